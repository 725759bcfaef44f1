package dev.idempotent.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link TestReferences}, and for the tests that pages name: beside threats in
 * docs/SECURITY.md, and beside faults in docs/faults.md and docs/participants.md.
 */
class TestReferencesTests {

	private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w*Tests\\b");

	/**
	 * Contributors run tests by their name; each act, each fault of a saga and each
	 * threat names its test.
	 */
	private static final Set<String> EXCEPT = Set.of("docs/architecture.md", "docs/crash-tests.md", "docs/faults.md",
			"docs/participants.md", "docs/SECURITY.md");

	private final TestReferences tests = TestReferences.read();

	private final List<List<String>> threats = threats();

	@Test
	void findATestThatExists() {
		assertThat(this.tests.exist("`TestReferencesTests#findATestThatExists`")).isTrue();
		assertThat(this.tests.exist("`ArchitectureTests#thereAreNoOtherRooms`")).isTrue();
	}

	@Test
	void findNoTestThatDoesNotExist() {
		assertThat(this.tests.exist("`TestReferencesTests#findATest`")).isFalse();
		assertThat(this.tests.exist("`TestReferences#exist`")).isFalse();
		assertThat(this.tests.exist("`NoSuchTests#findATestThatExists`")).isFalse();
	}

	/**
	 * A page would name both.
	 */
	@Test
	void failForTwoClassesOfOneName(@TempDir Path sources) throws IOException {
		for (String room : List.of("one", "other")) {
			Files.writeString(Files.createDirectory(sources.resolve(room)).resolve("SomeTests.java"), "");
		}
		assertThatIllegalStateException().isThrownBy(() -> TestReferences.read(sources))
			.withMessageContaining("SomeTests");
	}

	@Test
	void ofThreatsAreInRowsWithAMeasure() {
		assertThat(this.threats).allSatisfy((row) -> assertThat(row).hasSize(3).doesNotContain(""));
		assertThat(this.threats).flatExtracting((row) -> List.of(row.get(2).split(" ")))
			.hasSizeGreaterThan(55)
			.doesNotHaveDuplicates()
			.allSatisfy((test) -> assertThat(test).matches(TestReferences.FORM));
	}

	@Test
	void ofThreatsAreInOneRowForEachThreat() {
		assertThat(this.threats).extracting((row) -> row.get(0)).doesNotHaveDuplicates();
	}

	@Test
	void ofThreatsExist() {
		assertThat(this.threats).allSatisfy((row) -> assertThat(this.tests.exist(row.get(2))).as(row.get(2)).isTrue());
	}

	@Test
	void ofFaultsOfSagasExistAndAreInRowsWithAResult() {
		assertHaveTests(faults("docs/faults.md", "## Sagas"), 3, 23);
	}

	@Test
	void ofFaultsOfParticipantsExistAndAreInRowsWithAResult() {
		assertHaveTests(faults("docs/participants.md", "## What a cancellation does"), 4, 4);
	}

	@Test
	void standOnThePagesForContributorsAndOfThreatsOnly() {
		Set<String> tests = Page.sources("src/test/java");
		Set<String> others = new HashSet<>(Page.sources("src/main/java"));
		others.addAll(Page.sources("src/benchmark/java"));
		List<String> named = new ArrayList<>();
		for (Page page : Page.all()) {
			if (!EXCEPT.contains(page.path())) {
				NAME.matcher(page.withoutBlocks())
					.results()
					.filter((name) -> tests.contains(name.group()))
					.forEach((name) -> named.add(page + ": " + name.group()));
				String examples = String.join("", page.blocks("java"));
				page.codeSpans()
					.stream()
					.map((span) -> span.split("\\W", 2)[0])
					.filter((name) -> tests.contains(name) && !others.contains(name) && !examples.contains(name))
					.forEach((name) -> named.add(page + ": " + name));
			}
		}
		assertThat(named.stream().distinct().collect(Collectors.toList())).isEmpty();
	}

	/**
	 * The rows of the table of threats, without its head.
	 */
	private static List<List<String>> threats() {
		String text = Page.of("docs/SECURITY.md").text();
		return text.substring(text.indexOf("### Threats, measures and tests"))
			.lines()
			.skip(1)
			.takeWhile((line) -> !line.startsWith("#"))
			.filter((line) -> line.startsWith("| "))
			.skip(1)
			.map((line) -> Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
			.toList();
	}

	private void assertHaveTests(List<List<String>> faults, int cells, int fewest) {
		assertThat(faults).hasSizeGreaterThanOrEqualTo(fewest).allSatisfy((row) -> {
			assertThat(row).hasSize(cells).doesNotContain("");
			String test = row.get(cells - 1);
			assertThat(test).matches(TestReferences.FORM);
			assertThat(this.tests.exist(test)).as(test).isTrue();
		});
	}

	private static List<List<String>> faults(String path, String chapter) {
		String page = Page.of(path).text();
		String text = page.substring(page.indexOf(chapter + "\n") + chapter.length());
		return text.substring(0, text.indexOf("\n#"))
			.lines()
			.filter((line) -> line.startsWith("| "))
			.skip(1)
			.map((line) -> Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
			.toList();
	}

}
