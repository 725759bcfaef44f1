package dev.idempotent.testing;

/**
 * A Redis on a port that it keeps for life. Starting and stopping are repeatable; what is
 * stored does not outlive a stop.
 */
interface RedisServer extends AutoCloseable {

	static RedisServer started() {
		RedisServer server = TestServices.inContainer(RedisContainer.IMAGE) ? new RedisContainer()
				: new EmbeddedRedis();
		server.start();
		return server;
	}

	String host();

	int port();

	void start();

	void stop();

	@Override
	default void close() {
		stop();
	}

}
