package dev.idempotent.sample.crash.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis that keeps its port, loses its memory when it ends unless it is one that has
 * written it down, and is reached through a wire.
 */
final class KillableRedis implements AutoCloseable {

	private static final int REPLY_MILLIS = 5_000;

	private final int port = Ports.free();

	private final Wire wire = Wire.to(this.port);

	private final Path data;

	private final Path log;

	private final boolean hasMemory;

	private @Nullable ChildProcess process;

	KillableRedis(Path folder, String name) {
		this(folder, name, false);
	}

	private KillableRedis(Path folder, String name, boolean hasMemory) {
		this.data = folder.resolve(name).toAbsolutePath();
		this.log = folder.resolve(name + ".log");
		this.hasMemory = hasMemory;
	}

	/**
	 * One that starts with what it has written down before.
	 */
	static KillableRedis withMemory(Path folder, String name) {
		return new KillableRedis(folder, name, true);
	}

	/**
	 * Starts the server and waits until it answers.
	 * @param settings its settings beside its address
	 */
	void start(String... settings) {
		List<String> command = new ArrayList<>(List.of(executable()));
		command.addAll(List.of(settings));
		command.addAll(List.of("--bind", Ports.HOST, "--port", Integer.toString(this.port), "--dir", folder()));
		this.process = ChildProcess.start(command, this.log);
		Awaitility.await("Redis on port " + this.port).until(() -> Ports.answers(this.port));
	}

	/**
	 * A replica has written down what its master sent.
	 */
	private String folder() {
		try {
			if (!this.hasMemory) {
				FileSystemUtils.deleteRecursively(this.data);
			}
			return Files.createDirectories(this.data).toString();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String executable() {
		String given = System.getenv(ExecutableProvider.ENVIRONMENT_EXECUTABLE_LOCATION);
		try {
			return (given != null) ? given : ExecutableProvider.newJarResourceProvider().get().getPath();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Wire wire() {
		return this.wire;
	}

	int port() {
		return this.port;
	}

	boolean isAlive() {
		return process().isAlive();
	}

	/**
	 * Ends the server, and waits until it is gone.
	 * @param graceful whether it may finish what it does
	 */
	void stop(boolean graceful) {
		if (graceful) {
			process().stop();
		}
		else {
			process().kill();
		}
	}

	/**
	 * Removes every key.
	 */
	void flush() {
		String reply = ask("FLUSHALL");
		Assert.state(reply.startsWith("+OK"), () -> "Redis did not flush but answered " + reply);
	}

	/**
	 * Sends one command of plain words and returns the first bytes of the reply.
	 */
	String ask(String command) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			socket.setSoTimeout(REPLY_MILLIS);
			socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
			byte[] reply = new byte[8192];
			int length = socket.getInputStream().read(reply);
			return (length > 0) ? new String(reply, 0, length, StandardCharsets.US_ASCII) : "";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private ChildProcess process() {
		Assert.state(this.process != null, "This Redis was not started");
		return this.process;
	}

	@Override
	public void close() {
		stop(false);
		this.wire.close();
	}

}
