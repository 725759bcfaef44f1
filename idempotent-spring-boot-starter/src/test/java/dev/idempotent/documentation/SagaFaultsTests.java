package dev.idempotent.documentation;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the faults in docs/faults.md and docs/participants.md with the tests.
 */
class SagaFaultsTests {

	private final TestReferences tests = TestReferences.read();

	@Test
	void ofSagasHaveAResultAndATestThatExists() {
		assertHaveTests(faults("docs/faults.md", "## Sagas"), 3, 23);
	}

	@Test
	void ofParticipantsHaveAResultAndATestThatExists() {
		assertHaveTests(faults("docs/participants.md", "## What a cancellation does"), 4, 4);
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
