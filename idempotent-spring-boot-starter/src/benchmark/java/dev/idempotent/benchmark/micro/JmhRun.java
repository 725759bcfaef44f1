package dev.idempotent.benchmark.micro;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.springframework.util.Assert;

/**
 * Runs JMH in a JVM of its own. What its annotation processor generates is compiled here
 * instead of by the build, whose checks it would not pass.
 *
 * @param work a directory for what is generated
 */
record JmhRun(Path work) {

	private static final Path SOURCES = Path.of("src", "benchmark", "java");

	/**
	 * Compiles the benchmarks with the annotation processor of JMH.
	 */
	void compile() throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
				Stream<Path> sources = Files.walk(SOURCES)) {
			List<Path> micro = sources.filter((file) -> file.toString().endsWith("Micro.java")).toList();
			boolean compiled = compiler
				.getTask(null, files, null,
						List.of("-d", Files.createDirectories(this.work).toString(), "-cp", classPath(), "-nowarn",
								"-parameters", "-processor", "org.openjdk.jmh.generators.BenchmarkProcessor"),
						null, files.getJavaFileObjectsFromPaths(micro))
				.call();
			Assert.state(compiled, "The benchmarks were not compiled");
		}
	}

	/**
	 * Runs benchmarks.
	 * @param options of JMH
	 * @return the file with the results
	 */
	Path run(List<String> options) throws IOException, InterruptedException {
		Path results = this.work.resolve("results.json");
		Path log = this.work.resolve("jmh.log");
		List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java"), "-cp",
				this.work + System.getProperty("path.separator") + classPath(), "org.openjdk.jmh.Main", "-rf", "json",
				"-rff", results.toString(), "-foe", "true"));
		command.addAll(options);
		int exit = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start().waitFor();
		Assert.state(exit == 0, () -> "A benchmark has failed: see " + log);
		return results;
	}

	private static String classPath() {
		return System.getProperty("java.class.path");
	}

}
