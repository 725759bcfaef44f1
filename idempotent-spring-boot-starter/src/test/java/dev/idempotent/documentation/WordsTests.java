package dev.idempotent.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keeps the main code and the documentation in plain words.
 */
class WordsTests {

	private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

	private static final Map<String, String> PLAIN = new TreeMap<>(Map.ofEntries(
			Map.entry("\\bwho(so)?m?ever\\b", "name who: 'the caller', 'any instance that'"),
			Map.entry("\\bnobody\\b", "'no instance', 'no class', or turn the sentence: 'not'"),
			Map.entry("\\b(some|any)body\\b", "name who: 'a caller', 'another process', 'an operator'"),
			Map.entry("\\bwhat bec[ao]mes? of\\b", "'what happens to', 'the outcome of'"),
			Map.entry("\\bwhatever bec[ao]mes?\\b", "'whatever the outcome'"),
			Map.entry("(?<!there )\\bis no (?!longer\\b|more\\b|less\\b)\\w+", "'is not a', 'is not', 'has no'"),
			Map.entry("\\bin vain\\b", "'without success', or name the failure"),
			Map.entry("\\bbe it\\b", "'whether', 'by'"), Map.entry("\\banew\\b", "'again', 'a new'"),
			Map.entry("\\bbut once\\b", "'only once'"), Map.entry("\\byet to come\\b", "'later', 'that follows'"),
			Map.entry("\\b(tells?|told) (its|their) end\\b", "'ended', 'reported a result'"),
			Map.entry("\\bfor want of\\b", "'without', 'because there is no'"),
			Map.entry("\\bcannot be meant\\b", "'is ambiguous', 'is invalid'"),
			Map.entry("\\bleft to (its|their) leases?\\b", "'stays claimed until its lease expires'"),
			Map.entry("\\btells whether\\b", "'returns whether'"),
			Map.entry("\\bbegin of\\b", "'start of', 'beginning of'"),
			Map.entry("\\b(asks?|asked|asking|told|tells) the (database|store)\\b", "'queries', 'calls'"),
			Map.entry("\\b(handed|given|gives?|hands?) back\\b", "'released'"),
			Map.entry("\\btak(es?|ing) part in\\b", "'participates in'"),
			Map.entry("\\b(courier|bidder)s?\\b", "'relay', 'claimant'")));

	@Test
	void arePlain() {
		assertThat(texts().flatMap(WordsTests::oddTurns)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "is nobody's", "Whoever waits", "a time that is\n\t * no time",
			"\"which is \"\n\t\t+ \"no header\"", "tells what became of it", "is left\n * to its lease" })
	void includeNoOddTurn(String odd) {
		assertThat(oddTurns("Odd.java", odd)).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "is no longer there", "if there is no transaction", "may be its end", "invariant",
			"no more than two" })
	void mayIncludeAnythingElse(String plain) {
		assertThat(oddTurns("Plain.java", plain)).isEmpty();
	}

	private static Stream<Path> texts() {
		List<Path> roots = List.of(PROJECT.resolve("idempotent-spring-boot-starter/src/main"),
				PROJECT.resolve("idempotent-spring-boot-sample/src/main"), PROJECT.resolve("docs"),
				PROJECT.resolve("README.md"));
		return roots.stream()
			.flatMap(WordsTests::files)
			.filter((file) -> file.toString().matches(".*\\.(java|lua|sql|json|ya?ml|md)"))
			.sorted();
	}

	private static Stream<Path> files(Path root) {
		try (Stream<Path> files = Files.walk(root)) {
			return files.toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Stream<String> oddTurns(Path file) {
		try {
			return oddTurns(PROJECT.relativize(file).toString(), Files.readString(file)).stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<String> oddTurns(String name, String text) {
		String flat = flat(text);
		return PLAIN.entrySet()
			.stream()
			.flatMap((turn) -> Pattern.compile(turn.getKey(), Pattern.CASE_INSENSITIVE)
				.matcher(flat)
				.results()
				.map((match) -> name + ": ..." + around(flat, match) + "... Instead: " + turn.getValue()))
			.toList();
	}

	/**
	 * Joins sentences that continue on the next line of a comment, or in the next literal
	 * of a concatenation.
	 */
	private static String flat(String text) {
		return text.replaceAll("\"\\s*\\+\\s*\"", "")
			.replaceAll("\\R\\s*(\\*|//|--|#)?\\s*", " ")
			.replaceAll("\\s+", " ");
	}

	private static String around(String text, MatchResult match) {
		return text.substring(Math.max(0, match.start() - 30), Math.min(text.length(), match.end() + 30));
	}

}
