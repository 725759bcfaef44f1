package dev.idempotent.sample.crash.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.util.LinuxUtils;
import org.awaitility.Awaitility;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A PostgreSQL that can be crashed and started again on what it had committed, reached
 * through a wire.
 */
public final class KillablePostgres implements AutoCloseable {

	private static final int LOGIN_SECONDS = 5;

	private final int port = Ports.free();

	private final Wire wire = Wire.to(this.port);

	private final Path data;

	private final Path log;

	private final String executable;

	private ChildProcess process;

	private KillablePostgres(Path folder) throws IOException {
		this.data = folder.resolve("postgres").toAbsolutePath();
		this.log = folder.resolve("postgres.log");
		this.executable = initialise(this.data);
		this.process = run();
	}

	/**
	 * Starts a server with an empty database and waits until it answers.
	 */
	static KillablePostgres start(Path folder) {
		try {
			return new KillablePostgres(folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Lets the library create the data, and learns from them where its server is.
	 */
	private static String initialise(Path data) throws IOException {
		EmbeddedPostgres.builder()
			.setDataDirectory(data)
			.setCleanDataDirectory(false)
			.setRegisterShutdownHook(false)
			.start()
			.close();
		return Files.readString(data.resolve("postmaster.opts")).split(" \"", 2)[0];
	}

	private ChildProcess run() {
		List<String> command = new ArrayList<>();
		if (LinuxUtils.isUnshareAvailable()) {
			command.addAll(List.of("unshare", "-U"));
		}
		command.addAll(List.of(this.executable, "-D", this.data.toString(), "-p", Integer.toString(this.port), "-c",
				"listen_addresses=" + Ports.HOST, "-c", "unix_socket_directories=", "-c", "synchronous_commit=on"));
		ChildProcess started = ChildProcess.start(command, this.log);
		Awaitility.await("PostgreSQL on port " + this.port).until(this::answers);
		return started;
	}

	private boolean answers() {
		try {
			return jdbc().sql("select 1").query(Integer.class).single() == 1;
		}
		catch (DataAccessException ex) {
			return false;
		}
	}

	/**
	 * A client of its own for the caller, which does not use the wire.
	 */
	public JdbcClient jdbc() {
		return JdbcClient.create(dataSource());
	}

	/**
	 * Connections of its own for the caller, which do not use the wire.
	 */
	public DataSource dataSource() {
		PGSimpleDataSource server = new PGSimpleDataSource();
		server.setServerNames(new String[] { Ports.HOST });
		server.setPortNumbers(new int[] { this.port });
		server.setDatabaseName("postgres");
		server.setUser("postgres");
		server.setLoginTimeout(LOGIN_SECONDS);
		return server;
	}

	/**
	 * The arguments with which a shop uses this server.
	 */
	List<String> arguments() {
		return List.of(
				"--spring.datasource.url=jdbc:postgresql://" + Ports.HOST + ":" + this.wire.port()
						+ "/postgres?connectTimeout=2&socketTimeout=5",
				"--spring.datasource.username=postgres", "--spring.datasource.password=postgres");
	}

	public Wire wire() {
		return this.wire;
	}

	/**
	 * Loses the confirmation of the next commit, and its connection.
	 */
	public void loseConfirmation() {
		this.wire.loseReply("COMMIT\0");
	}

	/**
	 * Ends the server without letting it finish anything, as {@code pg_ctl -m immediate}
	 * does.
	 */
	public void crash() {
		this.process.signal("QUIT");
		this.process.awaitEnd();
	}

	/**
	 * Starts the crashed server and waits until it answers.
	 */
	public void start() {
		this.process = run();
	}

	@Override
	public void close() {
		crash();
		this.wire.close();
	}

}
