package dev.idempotent.testing;

import java.util.List;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

import org.springframework.test.util.TestSocketUtils;

/**
 * Redis in a container.
 */
final class RedisContainer implements RedisServer {

	static final String IMAGE = "redis:7.4-alpine";

	private static final int REDIS_PORT = 6379;

	private final int port = TestSocketUtils.findAvailableTcpPort();

	private final GenericContainer<?> container = new GenericContainer<>(IMAGE)
		.withCommand("redis-server", "--save", "")
		.waitingFor(Wait.forLogMessage(".*Ready to accept connections.*\\n", 1));

	RedisContainer() {
		// A port of Docker's choice would be another one after a stop.
		this.container.setPortBindings(List.of(this.port + ":" + REDIS_PORT));
	}

	@Override
	public String host() {
		return this.container.getHost();
	}

	@Override
	public int port() {
		return this.port;
	}

	@Override
	public void start() {
		this.container.start();
	}

	@Override
	public void stop() {
		this.container.stop();
	}

}
