package dev.idempotent.autoconfigure.actuate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the reasons of halted sagas that the console has advice for with the messages
 * in the code.
 */
class ConsoleAdviceTests {

	private static final Path PAGE = Path.of("src/main/resources/dev/idempotent/console/console.html");

	private static final Path SAGAS = Path.of("src/main/java/dev/idempotent/saga");

	private static final Pattern TABLE = Pattern.compile("const ADVICE = \\[\n(.*?)\n];", Pattern.DOTALL);

	private static final Pattern ROW = Pattern.compile("^ {2}\\[/(.+?)/, '", Pattern.MULTILINE);

	private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

	@Test
	void looksOnlyForReasonsThatAreInTheCode() throws IOException {
		List<String> messages = messages();
		List<String> reasons = reasons();
		assertThat(reasons).hasSizeGreaterThan(10);
		assertThat(reasons)
			.allSatisfy((reason) -> assertThat(messages).anyMatch(Pattern.compile(reason).asPredicate()));
	}

	private static List<String> reasons() throws IOException {
		return all(TABLE, Files.readString(PAGE)).flatMap((table) -> all(ROW, table))
			.flatMap((row) -> Stream.of(row.split("\\|")))
			.toList();
	}

	/**
	 * The texts of each statement, with dots for the values between them.
	 */
	private static List<String> messages() throws IOException {
		List<String> messages = new ArrayList<>();
		try (Stream<Path> files = Files.walk(SAGAS)) {
			for (Path file : files.filter(Files::isRegularFile).toList()) {
				String code = Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", "");
				for (String statement : code.split(";\n", -1)) {
					messages.add(all(TEXT, statement).collect(Collectors.joining("…")));
				}
			}
		}
		return messages;
	}

	private static Stream<String> all(Pattern pattern, String text) {
		return pattern.matcher(text).results().map((MatchResult found) -> found.group(1));
	}

}
