package dev.idempotent.benchmark.outbox;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * A listener of Spring Modulith with the event publication registry, JDBC. Of the
 * completion modes that the chapter "Working with Application Events" of its reference
 * offers, it has the one that leaves no rows behind, as all do here. It is called from
 * memory after the commit. While nothing is to be handled, its executor is paused.
 */
final class ModulithHandlers extends HandlerContender {

	static final String NAME = "modulith";

	private final ThreadPoolTaskExecutor executor;

	ModulithHandlers(Servers servers, int threads) {
		super(NAME, "event_publication",
				Shop.open("handlers_" + NAME, servers, Handlers.class, "idempotent.enabled=false",
						"idempotent.outbox.enabled=false", "namastack.outbox.enabled=false",
						"spring.modulith.events.jdbc.schema-initialization.enabled=true",
						"spring.modulith.events.completion-mode=delete", "benchmark.threads=" + threads));
		this.executor = shop().application().bean(ThreadPoolTaskExecutor.class);
		stopHandling();
	}

	@Override
	long place() {
		return shop().place(shop().application()::publish);
	}

	@Override
	void startHandling() {
		this.executor.start();
	}

	@Override
	void stopHandling() {
		this.executor.stop();
	}

	@Override
	public void close() {
		startHandling();
		super.close();
	}

	@EnableAutoConfiguration
	@Import({ BookingConfiguration.class, ModulithOutbox.Registry.class })
	@Configuration(proxyBeanMethods = false)
	static class Handlers {

		@Bean
		ThreadPoolTaskExecutor applicationTaskExecutor(@Value("${benchmark.threads}") int threads) {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setCorePoolSize(threads);
			return executor;
		}

		@Bean
		Listener listener(Booking booking) {
			return new Listener(booking);
		}

	}

	/**
	 * Books in a transaction of its own. A proxy is made of it.
	 */
	static class Listener {

		private final Booking booking;

		Listener(Booking booking) {
			this.booking = booking;
		}

		@ApplicationModuleListener
		void on(OrderPlaced order) {
			this.booking.book(order);
		}

	}

}
