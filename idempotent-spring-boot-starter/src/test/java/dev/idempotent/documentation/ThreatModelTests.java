package dev.idempotent.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the threats in docs/security.md with the tests.
 */
class ThreatModelTests {

	private static final String CHAPTER = "### Threats, measures and tests";

	private static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)`");

	private static final Path SOURCES = Path.of("src/test/java");

	private final List<List<String>> threats = threats();

	/**
	 * The rows of the table, without its head.
	 */
	private static List<List<String>> threats() {
		String text = Page.of("docs/security.md").text();
		return text.substring(text.indexOf(CHAPTER))
			.lines()
			.skip(1)
			.takeWhile((line) -> !line.startsWith("#"))
			.filter((line) -> line.startsWith("| "))
			.skip(1)
			.map((line) -> Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
			.toList();
	}

	@Test
	void namesAThreatAMeasureAndATestInEachRow() {
		assertThat(this.threats).hasSizeGreaterThan(40).allSatisfy((row) -> {
			assertThat(row).hasSize(3).doesNotContain("");
			assertThat(row.get(2)).matches(TEST);
		});
	}

	@Test
	void namesEachThreatOnce() {
		assertThat(this.threats).extracting((row) -> row.get(0)).doesNotHaveDuplicates();
	}

	@Test
	void namesTestsThatExist() {
		Map<String, Path> files = sources();
		assertThat(this.threats).allSatisfy((row) -> assertThat(exists(row.get(2), files)).as(row.get(2)).isTrue());
	}

	@Test
	void findsATestThatDoesNotExist() {
		Map<String, Path> files = sources();
		assertThat(exists("`ThreatModelTests#findsATestThatDoesNotExist`", files)).isTrue();
		assertThat(exists("`ThreatModelTests#findsATest`", files)).isFalse();
		assertThat(exists("`ThreatModelTests#exists`", files)).isFalse();
		assertThat(exists("`NoSuchTests#findsATestThatDoesNotExist`", files)).isFalse();
	}

	/**
	 * A test is a method with an annotation of JUnit or Jazzer.
	 */
	private static boolean exists(String cell, Map<String, Path> files) {
		return TEST.matcher(cell).results().allMatch((test) -> {
			Path file = files.get(test.group(1));
			return file != null && hasTest(read(file), test.group(2));
		});
	}

	/**
	 * An empty line separates the methods of a class.
	 */
	private static boolean hasTest(String source, String method) {
		Pattern test = Pattern.compile("^\\t+@(Test|ParameterizedTest|FuzzTest)\\b.*^\\t+void " + method + "\\(",
				Pattern.DOTALL | Pattern.MULTILINE);
		return Stream.of(source.split("\\R\\s*\\R")).anyMatch((part) -> test.matcher(part).find());
	}

	private static Map<String, Path> sources() {
		try (Stream<Path> files = Files.walk(SOURCES)) {
			return files.filter((file) -> file.toString().endsWith(".java"))
				.collect(Collectors.toMap((file) -> file.getFileName().toString().replace(".java", ""),
						Function.identity(), (one, other) -> one));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
