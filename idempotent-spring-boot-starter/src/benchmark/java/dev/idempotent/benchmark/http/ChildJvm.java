package dev.idempotent.benchmark.http;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import org.springframework.util.Assert;

/**
 * A JVM that answers questions. It ends with this one.
 */
final class ChildJvm implements AutoCloseable {

	private static final int SECONDS_TO_END = 30;

	private final String name;

	private final Process process;

	private final PrintWriter questions;

	private final BufferedReader answers;

	private ChildJvm(String name, Process process) {
		this.name = name;
		this.process = process;
		this.questions = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
		this.answers = process.inputReader(StandardCharsets.UTF_8);
	}

	/**
	 * Starts a JVM; what it logs goes to a file.
	 * @param name the file's
	 * @param command its arguments
	 */
	static ChildJvm start(String name, List<String> command) {
		try {
			Path log = Files.createDirectories(Output.FOLDER).resolve(name + ".log");
			return new ChildJvm(name, new ProcessBuilder(command).redirectError(log.toFile()).start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Waits for a line that was not asked for.
	 */
	String hear() {
		try {
			String answer = this.answers.readLine();
			Assert.state(answer != null, () -> this.name + " has ended: see its log in " + Output.FOLDER);
			return answer;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String ask(String question) {
		this.questions.println(question);
		return hear();
	}

	/**
	 * The processor time since the start, in microseconds.
	 */
	double processorMicros() {
		return new ServerProcess(Optional.of(this.process.toHandle())).micros();
	}

	@Override
	public void close() {
		this.questions.close();
		try {
			if (!this.process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
				this.process.destroyForcibly();
			}
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
	}

}
