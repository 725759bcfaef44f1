package dev.idempotent.documentation;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the threats in docs/SECURITY.md with the tests.
 */
class ThreatModelTests {

	private static final String CHAPTER = "### Threats, measures and tests";

	private final List<List<String>> threats = threats();

	/**
	 * The rows of the table, without its head.
	 */
	private static List<List<String>> threats() {
		String text = Page.of("docs/SECURITY.md").text();
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
	void namesAThreatAMeasureAndTestsInEachRow() {
		assertThat(this.threats).allSatisfy((row) -> assertThat(row).hasSize(3).doesNotContain(""));
		assertThat(this.threats).flatExtracting((row) -> List.of(row.get(2).split(" ")))
			.hasSizeGreaterThan(55)
			.doesNotHaveDuplicates()
			.allSatisfy((test) -> assertThat(test).matches(TestReferences.FORM));
	}

	@Test
	void namesEachThreatOnce() {
		assertThat(this.threats).extracting((row) -> row.get(0)).doesNotHaveDuplicates();
	}

	@Test
	void namesTestsThatExist() {
		TestReferences tests = TestReferences.read();
		assertThat(this.threats).allSatisfy((row) -> assertThat(tests.exist(row.get(2))).as(row.get(2)).isTrue());
	}

}
