package dev.idempotent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;

/**
 * A PostgreSQL whose files can be copied, restored and started as another server. Always
 * a process of this machine.
 */
public final class CopiedPostgres implements AutoCloseable {

	private final PostgresProcess server;

	private final List<Path> backups = new ArrayList<>();

	private CopiedPostgres(PostgresProcess server) {
		this.server = server;
		server.start();
	}

	/**
	 * Starts a new server.
	 */
	public static CopiedPostgres start() {
		return new CopiedPostgres(new PostgresProcess(List.of()));
	}

	/**
	 * Starts a server on a copy.
	 */
	public static CopiedPostgres startOn(Path backup) {
		return new CopiedPostgres(new PostgresProcess(List.of(), copy(backup)));
	}

	/**
	 * Starts a server that follows this one from a copy on, asynchronously.
	 */
	public CopiedPostgres startStandby(Path backup) {
		Path data = copy(backup);
		try {
			Files.createFile(data.resolve("standby.signal"));
			Files.writeString(data.resolve("postgresql.auto.conf"), "primary_conninfo = 'host=%s port=%d user=%s'%n"
				.formatted(this.server.host(), this.server.port(), RealPostgres.USER), StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return new CopiedPostgres(new PostgresProcess(List.of(), data));
	}

	/**
	 * Copies the files of this server, which is stopped meanwhile.
	 */
	public Path backup() {
		this.server.stop();
		Path backup = copy(this.server.data());
		this.backups.add(backup);
		this.server.start();
		return backup;
	}

	/**
	 * Replaces the files of this server by a copy, as a volume is reset to a snapshot.
	 */
	public void restore(Path backup) {
		this.server.stop();
		FileSystemUtils.deleteRecursively(this.server.data().toFile());
		run("cp", "-a", backup.toString(), this.server.data().toString());
		this.server.start();
	}

	/**
	 * Ends the server at once and starts it again on its own files.
	 */
	public void crash() {
		this.server.kill();
		this.server.start();
	}

	/**
	 * Ends the server at once, as a power cut would.
	 */
	public void kill() {
		this.server.kill();
	}

	/**
	 * The host and the port.
	 */
	public String address() {
		return this.server.host() + ":" + this.server.port();
	}

	public String url() {
		return RealPostgres.url(this.server.host(), this.server.port());
	}

	@Override
	public void close() {
		this.server.close();
		this.backups.forEach((backup) -> FileSystemUtils.deleteRecursively(backup.toFile()));
	}

	private static Path copy(Path data) {
		Path copy = PostgresProcess.newDirectory();
		run("cp", "-a", data + "/.", copy.toString());
		return copy;
	}

	private static void run(String... command) {
		try {
			int status = new ProcessBuilder(command).inheritIO().start().waitFor();
			Assert.state(status == 0, () -> String.join(" ", command) + " ended with " + status);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
