package dev.idempotent.sample.crash.site;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.springframework.util.Assert;

/**
 * A process that ends with this JVM, however it ends.
 */
final class ChildProcess {

	/**
	 * The standard input of a child ends with this JVM. A background shell that ignores
	 * signals waits for that end and kills the child.
	 */
	private static final String GUARD = """
			exec 3<&0
			(trap '' HUP INT TERM; cat <&3; kill -9 $$) >/dev/null 2>&1 &
			exec "$@" 3<&- </dev/null
			""";

	private final Process process;

	private ChildProcess(Process process) {
		this.process = process;
	}

	/**
	 * Starts a process.
	 * @param command the program and its arguments
	 * @param log where its output is added to
	 */
	static ChildProcess start(List<String> command, Path log) {
		return start(command, log, (line) -> {
		}, () -> {
		});
	}

	/**
	 * Starts a process.
	 * @param command the program and its arguments
	 * @param log where its output is added to
	 * @param lines receives each line of its output
	 * @param end called when the process has ended and all its output was read
	 */
	static ChildProcess start(List<String> command, Path log, Consumer<String> lines, Runnable end) {
		List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARD, "sh"));
		guarded.addAll(command);
		try {
			Process process = new ProcessBuilder(guarded).redirectErrorStream(true).start();
			Thread reader = new Thread(() -> {
				read(process, log, lines);
				process.onExit().join();
				end.run();
			}, "output of " + command.get(0));
			reader.setDaemon(true);
			reader.start();
			return new ChildProcess(process);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void read(Process process, Path log, Consumer<String> lines) {
		try (BufferedReader output = process.inputReader();
				Writer file = Files.newBufferedWriter(log, StandardCharsets.UTF_8, StandardOpenOption.CREATE,
						StandardOpenOption.APPEND)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				file.write(line + System.lineSeparator());
				file.flush();
				lines.accept(line);
			}
		}
		catch (IOException ex) {
			// A killed process may leave no end of its output.
			lines.accept(ex.toString());
		}
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Ends the process as {@code kill -9} does, and waits until it is gone.
	 */
	void kill() {
		this.process.destroyForcibly();
		awaitEnd();
	}

	/**
	 * Asks the process to end, and waits until it is gone.
	 */
	void stop() {
		this.process.destroy();
		awaitEnd();
	}

	int awaitEnd() {
		return this.process.onExit().join().exitValue();
	}

	/**
	 * Sends a signal.
	 * @param name such as {@code STOP}
	 */
	void signal(String name) {
		try {
			Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(this.process.pid())).start();
			int status = kill.onExit().join().exitValue();
			Assert.state(status == 0 || !isAlive(), () -> "kill -" + name + " ended with status " + status);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
