package dev.idempotent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;
import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;

/**
 * PostgreSQL as a process of this machine, from the binary in a Maven artifact.
 */
final class PostgresProcess implements PostgresServer {

	private final int port = Ports.free();

	private final Path data;

	private final List<String> settings;

	private @Nullable EmbeddedPostgres process;

	PostgresProcess(List<String> settings) {
		this(settings, newDirectory());
	}

	/**
	 * Creates a server on existing data, which it deletes when it is closed.
	 */
	PostgresProcess(List<String> settings, Path data) {
		this.settings = settings;
		this.data = data;
	}

	static Path newDirectory() {
		try {
			return Files.createTempDirectory("postgres");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Path data() {
		return this.data;
	}

	@Override
	public String host() {
		return "127.0.0.1";
	}

	@Override
	public int port() {
		return this.port;
	}

	@Override
	public void start() {
		if (this.process != null) {
			return;
		}
		try {
			EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
				.setPort(this.port)
				.setDataDirectory(this.data)
				.setCleanDataDirectory(false)
				.setPGStartupWait(Duration.ofMinutes(1))
				.setServerConfig("listen_addresses", "127.0.0.1")
				// The library's default forgets commits when the server is killed.
				.setServerConfig("synchronous_commit", "on");
			for (String setting : this.settings) {
				String[] nameAndValue = setting.split("=", 2);
				builder.setServerConfig(nameAndValue[0], nameAndValue[1]);
			}
			this.process = builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The embedded PostgreSQL did not start. As root it needs the command "
					+ "unshare and a kernel that lets it: run the tests as another user", ex);
		}
	}

	@Override
	public void stop() {
		if (this.process == null) {
			return;
		}
		try {
			this.process.close();
			this.process = null;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void kill() {
		Assert.state(this.process != null, "PostgreSQL is not running");
		try {
			// What pg_ctl -m immediate does.
			String postmaster = Files.readAllLines(this.data.resolve("postmaster.pid")).get(0).strip();
			new ProcessBuilder("kill", "-QUIT", postmaster).inheritIO().start().waitFor();
			ProcessHandle.of(Long.parseLong(postmaster))
				.ifPresent((handle) -> handle.onExit().orTimeout(60, TimeUnit.SECONDS).join());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		stop();
	}

	@Override
	public void close() {
		stop();
		FileSystemUtils.deleteRecursively(this.data.toFile());
	}

}
