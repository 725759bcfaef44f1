package dev.idempotent.benchmark.http.application;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/**
 * The JVM that has started this one: it asks by lines on the standard input, and reads
 * the answers from the standard output.
 */
public final class ParentJvm {

	private final PrintStream answers;

	private ParentJvm(PrintStream answers) {
		this.answers = answers;
	}

	/**
	 * Keeps the standard output for answers: whatever else is printed goes to the error
	 * output.
	 * @return the parent
	 */
	public static ParentJvm connect() {
		ParentJvm parent = new ParentJvm(System.out);
		System.setOut(System.err);
		return parent;
	}

	/**
	 * Tells the parent something that it waits for.
	 * @param line one line
	 */
	public void tell(String line) {
		this.answers.println(line);
		this.answers.flush();
	}

	/**
	 * Answers until the parent has closed the standard input or has ended, then ends this
	 * JVM.
	 * @param answer a line for a line
	 * @throws IOException if the standard input cannot be read
	 */
	public void serve(UnaryOperator<String> answer) throws IOException {
		BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = questions.readLine(); line != null; line = questions.readLine()) {
			tell(answer.apply(line));
		}
		System.exit(0);
	}

}
