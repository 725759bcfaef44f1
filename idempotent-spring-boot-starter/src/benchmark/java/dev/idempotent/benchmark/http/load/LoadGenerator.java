package dev.idempotent.benchmark.http.load;

import java.io.IOException;

import dev.idempotent.benchmark.http.application.ParentJvm;

/**
 * Sends requests as the JVM that has started it asks for.
 */
public final class LoadGenerator {

	private LoadGenerator() {
	}

	/**
	 * Answers each {@link LoadOrder} with a {@link LoadResult}.
	 * @param arguments none
	 * @throws IOException if the standard input cannot be read
	 */
	public static void main(String[] arguments) throws IOException {
		ParentJvm.connect().serve((line) -> new LoadRun(LoadOrder.parse(line)).run().toString());
	}

}
