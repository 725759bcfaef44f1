package dev.idempotent.testing;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/**
 * Redis in a container.
 */
final class RedisContainer extends ContainerServer implements RedisServer {

	static final String IMAGE = "redis:7.4-alpine";

	private static final int REDIS_PORT = 6379;

	RedisContainer() {
		super(new GenericContainer<>(IMAGE).withCommand("redis-server", "--save", "")
			.waitingFor(Wait.forLogMessage(".*Ready to accept connections.*\\n", 1)), REDIS_PORT);
	}

	@Override
	public void start() {
		container().start();
	}

	@Override
	public void stop() {
		container().stop();
	}

}
