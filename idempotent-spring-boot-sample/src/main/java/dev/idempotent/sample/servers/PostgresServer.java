package dev.idempotent.sample.servers;

import java.io.IOException;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;

/**
 * An empty PostgreSQL on a free port of the loopback address. Stops with the application.
 */
final class PostgresServer implements JdbcConnectionDetails, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(PostgresServer.class);

	private static final String ACTION = "Set spring.datasource.url, spring.datasource.username and "
			+ "spring.datasource.password to a running PostgreSQL. PostgreSQL refuses to run as root: this application "
			+ "then needs the command unshare and a kernel that permits it, or must be run as another user.";

	private final EmbeddedPostgres postgres;

	private PostgresServer(EmbeddedPostgres postgres) {
		this.postgres = postgres;
	}

	/**
	 * Starts a server and waits until it is ready.
	 * @throws EmbeddedServerException if it does not start
	 */
	static PostgresServer start() {
		try {
			PostgresServer server = new PostgresServer(EmbeddedPostgres.builder()
				.setServerConfig("listen_addresses", "127.0.0.1")
				// With the library's default, commits are lost when the server is killed.
				.setServerConfig("synchronous_commit", "on")
				// The library's hook does not wait for a graceful shutdown.
				.setRegisterShutdownHook(false)
				.start());
			logger.info(
					"PostgreSQL runs on 127.0.0.1:{}. Another instance shares it with --spring.datasource.url={} "
							+ "--spring.datasource.username={} --spring.datasource.password={}",
					server.postgres.getPort(), server.getJdbcUrl(), server.getUsername(), server.getPassword());
			return server;
		}
		catch (IOException | RuntimeException ex) {
			throw new EmbeddedServerException("The embedded PostgreSQL could not be started: " + ex.getMessage(),
					ACTION, ex);
		}
	}

	@Override
	public String getJdbcUrl() {
		return "jdbc:postgresql://127.0.0.1:" + this.postgres.getPort() + "/postgres";
	}

	@Override
	public String getUsername() {
		return "postgres";
	}

	@Override
	public String getPassword() {
		return "postgres";
	}

	@Override
	public void close() throws IOException {
		this.postgres.close();
	}

}
