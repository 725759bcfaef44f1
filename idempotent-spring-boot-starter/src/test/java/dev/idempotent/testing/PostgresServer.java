package dev.idempotent.testing;

/**
 * A PostgreSQL on a port that it keeps for life. Starting and stopping are repeatable,
 * and what was committed outlives them.
 */
interface PostgresServer extends AutoCloseable {

	static PostgresServer started() {
		PostgresServer server = TestServices.inContainer(PostgresContainer.IMAGE) ? new PostgresContainer()
				: new PostgresProcess();
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
