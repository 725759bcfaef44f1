package dev.idempotent.benchmark.outbox;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * Handlers that are called from memory after the commit. While nothing is to be handled,
 * their executor is paused.
 */
abstract class InMemoryHandlers extends HandlerContender {

	private final ThreadPoolTaskExecutor executor;

	InMemoryHandlers(String name, String table, Shop shop) {
		super(name, table, shop);
		this.executor = shop.application().bean(ThreadPoolTaskExecutor.class);
		this.executor.stop();
	}

	@Override
	final void startHandling() {
		this.executor.start();
	}

	@Override
	final void stopHandling() {
		this.executor.stop();
	}

	@Override
	public final void close() {
		startHandling();
		super.close();
	}

	@Configuration(proxyBeanMethods = false)
	static class Threads {

		@Bean
		ThreadPoolTaskExecutor applicationTaskExecutor(@Value("${benchmark.threads}") int threads) {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setCorePoolSize(threads);
			return executor;
		}

	}

}
