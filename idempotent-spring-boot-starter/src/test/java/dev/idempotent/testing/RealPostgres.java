package dev.idempotent.testing;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.springframework.util.Assert;

/**
 * A running PostgreSQL for a test class, registered as a static field:
 * {@code @RegisterExtension static final RealPostgres postgres = RealPostgres.shared();}.
 * The system property {@code test.services} ({@code docker} or {@code embedded})
 * overrules where it comes from.
 */
public final class RealPostgres implements BeforeAllCallback {

	public static final String USER = "postgres";

	public static final String PASSWORD = "postgres";

	private final boolean shared;

	private final List<String> settings;

	private @Nullable PostgresServer server;

	private @Nullable Store resources;

	private RealPostgres(boolean shared, List<String> settings) {
		this.shared = shared;
		this.settings = settings;
	}

	/**
	 * The one server of this JVM, which no test can stop; it keeps what other classes
	 * wrote, so that tables of the same name are shared too.
	 */
	public static RealPostgres shared() {
		return new RealPostgres(true, List.of());
	}

	/**
	 * A server for this test class alone, which it may stop and start.
	 */
	public static RealPostgres dedicated() {
		return new RealPostgres(false, List.of());
	}

	/**
	 * The same with settings that other tests do not have, as {@code name=value}. The
	 * embedded server has {@code fsync=off} otherwise.
	 */
	public static RealPostgres dedicatedWith(String... settings) {
		return new RealPostgres(false, List.of(settings));
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		this.resources = context.getStore(Namespace.create(RealPostgres.class, this));
		Store home = this.shared ? context.getRoot().getStore(Namespace.create(RealPostgres.class)) : this.resources;
		this.server = home.computeIfAbsent(PostgresServer.class, (key) -> PostgresServer.started(this.settings),
				PostgresServer.class);
	}

	public String host() {
		return server().host();
	}

	/**
	 * The port, which stays the same when the server is stopped and started.
	 */
	public int port() {
		return server().port();
	}

	public String url() {
		return url(host(), port());
	}

	static String url(String host, int port) {
		return "jdbc:postgresql://" + host + ":" + port + "/postgres";
	}

	/**
	 * What tells an application where the server is, as {@code name=value}.
	 */
	public List<String> properties() {
		return List.of("spring.datasource.url=" + url(), "spring.datasource.username=" + USER,
				"spring.datasource.password=" + PASSWORD);
	}

	/**
	 * A pool of its own for the caller, closed after the test class.
	 */
	public HikariDataSource connect() {
		return connect(url());
	}

	/**
	 * A pool on another way to the server, closed after the test class.
	 */
	public HikariDataSource connect(String url) {
		Assert.state(this.resources != null, "PostgreSQL is only there while its test class runs");
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setUsername(USER);
		pool.setPassword(PASSWORD);
		this.resources.put(pool, pool);
		return pool;
	}

	/**
	 * Starts the stopped server again, with what was committed and on the same port.
	 */
	public void start() {
		dedicatedServer().start();
	}

	/**
	 * Ends all sessions, then the server. Only a {@link #dedicated()} one can be stopped.
	 */
	public void stop() {
		dedicatedServer().stop();
	}

	/**
	 * Ends the server at once, as a power cut would. Only a {@link #dedicated()} one can
	 * be killed.
	 */
	public void kill() {
		dedicatedServer().kill();
	}

	private PostgresServer dedicatedServer() {
		Assert.state(!this.shared,
				"Other tests use the shared PostgreSQL: stop one from RealPostgres.dedicated() instead");
		return server();
	}

	private PostgresServer server() {
		Assert.state(this.server != null, "PostgreSQL is only there while its test class runs");
		return this.server;
	}

}
