package dev.idempotent.sample.owner;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A child JVM that runs one checkout.
 */
final class OwnerProcess {

	private static final Logger logger = LoggerFactory.getLogger(OwnerProcess.class);

	private final Process process;

	private final CompletableFuture<URI> address = new CompletableFuture<>();

	private final BiConsumer<OwnerProcess, OwnerLine> lines;

	private final Consumer<OwnerProcess> end;

	private OwnerProcess(Process process, BiConsumer<OwnerProcess, OwnerLine> lines, Consumer<OwnerProcess> end) {
		this.process = process;
		this.lines = lines;
		this.end = end;
	}

	/**
	 * Starts a process, which takes requests some seconds later.
	 * @param command the program and its arguments
	 * @param environment what is added to the environment
	 * @param lines called with each line that the process prints for this JVM
	 * @param end called when the process has ended
	 */
	static OwnerProcess start(List<String> command, Map<String, String> environment,
			BiConsumer<OwnerProcess, OwnerLine> lines, Consumer<OwnerProcess> end) {
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().putAll(environment);
		try {
			OwnerProcess owner = new OwnerProcess(builder.start(), lines, end);
			Thread reader = new Thread(owner::read, "saga-owner-output");
			reader.setDaemon(true);
			reader.start();
			return owner;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("A second JVM could not be started", ex);
		}
	}

	private void read() {
		try (BufferedReader output = this.process.inputReader()) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				OwnerLine parsed = OwnerLine.parse(line);
				if (parsed != null) {
					hear(parsed);
				}
				else {
					logger.debug("[{}] {}", pid(), line);
				}
			}
		}
		catch (IOException ex) {
			// A killed process may leave no end of its output.
			logger.debug("The output of process {} has ended", pid(), ex);
		}
		finally {
			this.address.completeExceptionally(new IllegalStateException("The second JVM has ended"));
			this.process.onExit().join();
			this.end.accept(this);
		}
	}

	private void hear(OwnerLine line) {
		if (line.word() == OwnerLine.Word.READY) {
			this.address.complete(URI.create("http://127.0.0.1:" + line.detail()));
		}
		this.lines.accept(this, line);
	}

	long pid() {
		return this.process.pid();
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	boolean isReady() {
		return this.address.isDone() && !this.address.isCompletedExceptionally() && isAlive();
	}

	/**
	 * Returns where it takes requests, once it does.
	 */
	CompletableFuture<URI> address() {
		return this.address;
	}

	/**
	 * Ends the process after a time, unless it has ended by then.
	 */
	void limit(Duration time) {
		CompletableFuture.delayedExecutor(time.toMillis(), TimeUnit.MILLISECONDS).execute(this::kill);
	}

	/**
	 * Ends the process as {@code kill -9} does.
	 */
	void kill() {
		this.process.destroyForcibly();
	}

}
