package dev.idempotent.testing;

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
import org.springframework.boot.SpringApplication;

/**
 * An application in a JVM that is started again whenever it has ended.
 */
public final class RestartedApplication implements AutoCloseable {

	/**
	 * The standard input of a child ends with this JVM. A background shell that ignores
	 * signals waits for that end and kills the child.
	 */
	private static final String GUARD = """
			exec 3<&0
			(trap '' HUP INT TERM; cat <&3; kill -9 $$) >/dev/null 2>&1 &
			exec "$@" 3<&- </dev/null
			""";

	private static final int HALTED = 17;

	private static final String READY = "Ready to be crashed";

	private static final String IDLE = "Idle from now on";

	private static final String REPORTED = "Reported: ";

	private final String name;

	private final int port;

	private final List<String> command;

	private final Path log;

	private final Tally tally;

	private @Nullable Process process;

	private volatile boolean ready;

	private volatile boolean idle;

	private volatile boolean closed;

	private volatile boolean killed;

	/**
	 * Starts an application.
	 * @param application its configuration
	 * @param port where it serves requests, if it does
	 * @param folder where its log is
	 * @param tally counts how often it ended, and what it {@linkplain #report reports}
	 */
	public RestartedApplication(String name, Class<?> application, int port, List<String> arguments, Path folder,
			Tally tally) {
		this.name = name;
		this.port = port;
		this.log = folder.resolve(name + ".log");
		this.tally = tally;
		this.command = new ArrayList<>(List.of("sh", "-c", GUARD, "sh", System.getProperty("java.home") + "/bin/java",
				"-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp",
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
				RestartedApplication.class.getName(), application.getName(), "--server.port=" + port));
		this.command.addAll(arguments);
		Thread thread = new Thread(this::live, name);
		thread.setDaemon(true);
		thread.start();
	}

	private void live() {
		try {
			for (Process life = start(); life != null; life = start()) {
				this.killed = false;
				read(life);
				int status = life.onExit().join().exitValue();
				this.ready = false;
				this.idle = false;
				if (!this.closed && status != HALTED) {
					this.tally.count(this.killed ? "kill" : "end " + status);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private synchronized @Nullable Process start() throws IOException {
		if (!this.closed) {
			this.process = new ProcessBuilder(this.command).redirectErrorStream(true).start();
		}
		return this.closed ? null : this.process;
	}

	private void read(Process started) throws IOException {
		try (BufferedReader output = started.inputReader();
				Writer file = Files.newBufferedWriter(this.log, StandardCharsets.UTF_8, StandardOpenOption.CREATE,
						StandardOpenOption.APPEND)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				file.write(line + System.lineSeparator());
				file.flush();
				if (line.startsWith(REPORTED)) {
					this.tally.count(line.substring(REPORTED.length()));
				}
				else {
					this.ready |= line.equals(READY);
					this.idle |= line.equals(IDLE);
				}
			}
		}
	}

	/**
	 * Runs the application in the JVM that was started for it.
	 */
	public static void main(String[] arguments) throws ClassNotFoundException {
		new SpringApplication(Class.forName(arguments[0])).run(arguments);
		System.out.println(READY);
	}

	/**
	 * Makes the JVM that started this one count something.
	 */
	public static void report(String event) {
		System.out.println(REPORTED + event);
		System.out.flush();
	}

	/**
	 * Ends this JVM at once, and makes the JVM that started it count that.
	 */
	public static void halt(String point) {
		report("halt at " + point);
		Runtime.getRuntime().halt(HALTED);
	}

	/**
	 * Tells the JVM that started this one that the application does nothing more by
	 * itself.
	 */
	public static void reportIdle() {
		System.out.println(IDLE);
		System.out.flush();
	}

	public boolean isReady() {
		return this.ready;
	}

	/**
	 * Whether the application has {@linkplain #reportIdle reported} that it is idle.
	 */
	public boolean isIdle() {
		return this.idle;
	}

	public URI uri(String path) {
		return URI.create("http://127.0.0.1:" + this.port + path);
	}

	public synchronized void kill() {
		if (this.process != null) {
			this.ready = false;
			this.killed = true;
			// Process.destroyForcibly() would close its output, which is being read.
			this.process.toHandle().destroyForcibly();
		}
	}

	/**
	 * Sends a signal.
	 * @param signal such as {@code STOP}
	 */
	public synchronized void signal(String signal) {
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
