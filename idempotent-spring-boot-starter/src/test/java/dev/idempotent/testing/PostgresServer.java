package dev.idempotent.testing;

import java.util.List;

/**
 * A PostgreSQL on a port that it keeps for life. Starting and stopping are repeatable,
 * and what was committed outlives them.
 */
interface PostgresServer extends AutoCloseable {

	/**
	 * Starts a server.
	 * @param settings that differ from those of other tests, as {@code name=value}
	 */
	static PostgresServer started(List<String> settings) {
		PostgresServer server = TestServices.inContainer(PostgresContainer.IMAGE) ? new PostgresContainer(settings)
				: new PostgresProcess(settings);
		server.start();
		return server;
	}

	String host();

	int port();

	void start();

	/**
	 * Ends all sessions, then the server.
	 */
	void stop();

	/**
	 * Ends the server at once, as a power cut would.
	 */
	void kill();

	@Override
	void close();

}
