package dev.idempotent.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import dev.idempotent.saga.engine.HaltReason;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The reasons by which docs/operations.md says what to do are those that the library
 * gives, and all of them.
 */
class OperationsPageTests {

	private static final String OF_EVENTS = "| `lastError` | why | what to do |";

	private static final String OF_SAGAS = "| reason | what to do |";

	private static final Path SOURCES = Path.of("src/main/java/dev/idempotent");

	private static final Pattern SPAN = Pattern.compile("`([^`]+)`");

	private static final Pattern LINK = Pattern.compile("\\[([^\\]]+)]\\([^)]+\\)");

	private static final Pattern CONCATENATION = Pattern.compile("\"\\s*\\+\\s*\"");

	private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

	private static final Pattern REJECTED = Pattern.compile("new Outcome\\.Reject\\(\\s*\"([^\"]+)\"");

	/**
	 * Shorter texts, such as the end of a sentence, say nothing.
	 */
	private static final int LEAST = 8;

	@Test
	void namesReasonsOfEventsThatTheLibraryGives() {
		List<String> texts = texts(SOURCES);
		assertThat(reasons(OF_EVENTS)).hasSizeGreaterThan(9)
			.flatExtracting(OperationsPageTests::parts)
			.allSatisfy((part) -> assertThat(texts).as(part).anyMatch((text) -> text.contains(part)));
	}

	@Test
	void namesEachReasonForWhichAnEventIsRejected() {
		List<String> named = reasons(OF_EVENTS).stream().map((reason) -> parts(reason).get(0)).toList();
		assertThat(sources(SOURCES.resolve("outbox"))
			.flatMap((source) -> REJECTED.matcher(source).results().map((match) -> match.group(1))))
			.hasSizeGreaterThan(3)
			.allSatisfy((reason) -> assertThat(named).as(reason).anyMatch(reason::startsWith));
	}

	/**
	 * In their order, because the first reason that fits counts.
	 */
	@Test
	void saysForEachReasonOfAHaltedSagaWhatToDo() {
		Map<String, List<String>> reasons = new LinkedHashMap<>();
		Stream.of(HaltReason.values())
			.forEach((reason) -> reasons.computeIfAbsent(reason.action(), (action) -> new ArrayList<>())
				.add(reason.pattern()));
		Map<String, List<String>> rows = new LinkedHashMap<>();
		rows(OF_SAGAS).forEach((row) -> rows.put(plain(row.get(1)), spans(row.get(0))));
		assertThat(rows).containsExactlyEntriesOf(reasons);
	}

	/**
	 * The reasons in the first column of a table.
	 */
	private static List<String> reasons(String head) {
		return rows(head).stream().flatMap((row) -> spans(row.get(0)).stream()).toList();
	}

	/**
	 * The cells of a table.
	 */
	private static List<List<String>> rows(String head) {
		List<String> lines = Page.of("docs/operations.md").text().lines().map(String::strip).toList();
		assertThat(lines).contains(head);
		return lines.stream()
			.skip(lines.indexOf(head) + 2L)
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> Stream.of(line.substring(1).split("\\|")).map(String::strip).toList())
			.toList();
	}

	private static List<String> spans(String cell) {
		return SPAN.matcher(cell).results().map((match) -> match.group(1)).toList();
	}

	private static String plain(String cell) {
		return LINK.matcher(cell).replaceAll("$1").replace("`", "");
	}

	/**
	 * What stands between the parts that differ.
	 */
	private static List<String> parts(String reason) {
		return Arrays.stream(reason.split("…")).map(String::strip).filter((part) -> part.length() >= LEAST).toList();
	}

	/**
	 * The texts of the sources, also those that are written in several lines.
	 */
	private static List<String> texts(Path folder) {
		return sources(folder).flatMap((source) -> LITERAL.matcher(source).results().map((match) -> match.group(1)))
			.toList();
	}

	private static Stream<String> sources(Path folder) {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter((file) -> file.toString().endsWith(".java"))
				.toList()
				.stream()
				.map(OperationsPageTests::source);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String source(Path file) {
		try {
			return CONCATENATION.matcher(Files.readString(file)).replaceAll("");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
