package dev.idempotent.benchmark.http;

import java.nio.file.Path;

/**
 * Where the results and the logs of the applications are.
 */
final class Output {

	static final Path FOLDER = Path.of("target", "benchmark").toAbsolutePath();

	private Output() {
	}

}
