package dev.idempotent.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the tests that a page names, such as {@code `SomeTests#promisesSomething`}. The
 * name of a class is unique among the tests, so that a page names one file.
 *
 * @param files the files by the names of their classes
 */
record TestReferences(Map<String, Path> files) {

	static final Pattern FORM = Pattern.compile("`(\\w+)#(\\w+)`");

	private static final Path SOURCES = Path.of("src/test/java");

	static TestReferences read() {
		return read(SOURCES);
	}

	/**
	 * Reads the names of the test classes below a folder.
	 * @throws IllegalStateException if two have the same name
	 */
	static TestReferences read(Path sources) {
		try (Stream<Path> files = Files.walk(sources)) {
			return new TestReferences(files.filter((file) -> file.toString().endsWith("Tests.java"))
				.collect(Collectors.toMap((file) -> file.getFileName().toString().replace(".java", ""),
						Function.identity())));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns whether all tests that a text names exist. A test is a method with an
	 * annotation of JUnit or Jazzer, or a rule of ArchUnit.
	 */
	boolean exist(String text) {
		return FORM.matcher(text).results().allMatch((test) -> {
			Path file = this.files.get(test.group(1));
			return file != null && hasTest(text(file), test.group(2));
		});
	}

	/**
	 * An empty line separates the members of a class.
	 */
	private static boolean hasTest(String source, String name) {
		Pattern method = Pattern.compile("^\\t+@(Test|ParameterizedTest|FuzzTest)\\b.*^\\t+void " + name + "\\(",
				Pattern.DOTALL | Pattern.MULTILINE);
		Pattern rule = Pattern.compile("^\\t@ArchTest\\s+static final ArchRule " + name + "\\b", Pattern.MULTILINE);
		return Stream.of(source.split("\\R\\s*\\R"))
			.anyMatch((part) -> method.matcher(part).find() || rule.matcher(part).find());
	}

	private static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
