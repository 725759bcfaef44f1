package dev.idempotent.saga.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An application in a JVM that is started again whenever it has ended.
 */
final class Instance implements AutoCloseable {

	/**
	 * The standard input of a child ends with this JVM. A background shell that ignores
	 * signals waits for that end and kills the child.
	 */
	private static final String GUARD = """
			exec 3<&0
			(trap '' HUP INT TERM; cat <&3; kill -9 $$) >/dev/null 2>&1 &
			exec "$@" 3<&- </dev/null
			""";

	private final String name;

	private final int port;

	private final List<String> command;

	private final Path log;

	private final Tally tally;

	private @Nullable Process process;

	private volatile boolean ready;

	private volatile boolean closed;

	private volatile boolean killed;

	Instance(String name, Class<?> application, int port, List<String> arguments, Path folder, Tally tally) {
		this.name = name;
		this.port = port;
		this.log = folder.resolve(name + ".log");
		this.tally = tally;
		this.command = new ArrayList<>(List.of("sh", "-c", GUARD, "sh", System.getProperty("java.home") + "/bin/java",
				"-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp",
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
				ChildApplication.class.getName(), application.getName(), "--server.port=" + port));
		this.command.addAll(arguments);
		Thread thread = new Thread(this::live, name);
		thread.setDaemon(true);
		thread.start();
	}

	private void live() {
		try {
			while (start()) {
				this.killed = false;
				read(this.process);
				int status = this.process.onExit().join().exitValue();
				this.ready = false;
				if (!this.closed) {
					this.tally.count(this.killed ? "kill" : "end " + status);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private synchronized boolean start() throws IOException {
		if (!this.closed) {
			this.process = new ProcessBuilder(this.command).redirectErrorStream(true).start();
		}
		return !this.closed;
	}

	private void read(Process started) throws IOException {
		try (BufferedReader output = started.inputReader();
				Writer file = Files.newBufferedWriter(this.log, StandardCharsets.UTF_8, StandardOpenOption.CREATE,
						StandardOpenOption.APPEND)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				file.write(line + System.lineSeparator());
				file.flush();
				if (line.equals(ChildApplication.READY)) {
					this.ready = true;
				}
				else if (line.startsWith(HaltPoint.HALTING)) {
					this.tally.count("halt at " + line.substring(HaltPoint.HALTING.length()));
				}
			}
		}
	}

	boolean isReady() {
		return this.ready;
	}

	URI uri(String path) {
		return URI.create("http://127.0.0.1:" + this.port + path);
	}

	synchronized void kill() {
		if (this.process != null) {
			this.ready = false;
			this.killed = true;
			this.process.destroyForcibly();
		}
	}

	/**
	 * Sends a signal.
	 * @param signal such as {@code STOP}
	 */
	synchronized void signal(String signal) {
		try {
			if (this.process != null) {
				new ProcessBuilder("kill", "-" + signal, Long.toString(this.process.pid())).start().onExit().join();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
		}
		kill();
	}

	@Override
	public String toString() {
		return this.name;
	}

}
