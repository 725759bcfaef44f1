package dev.idempotent.documentation;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the faults in docs/sagas.md with the tests.
 */
class SagaFaultsTests {

	private final String page = Page.of("docs/sagas.md").text();

	private final TestReferences tests = TestReferences.read();

	@Test
	void ofSagasHaveAResultAndATestThatExists() {
		assertHaveTests(faults("## What happens when"), 3, 23);
	}

	@Test
	void ofParticipantsHaveAResultAndATestThatExists() {
		assertHaveTests(faults("### What a cancellation does"), 4, 4);
	}

	private void assertHaveTests(List<List<String>> faults, int cells, int fewest) {
		assertThat(faults).hasSizeGreaterThanOrEqualTo(fewest).allSatisfy((row) -> {
			assertThat(row).hasSize(cells).doesNotContain("");
			String test = row.get(cells - 1);
			assertThat(test).matches(TestReferences.FORM);
			assertThat(this.tests.exist(test)).as(test).isTrue();
		});
	}

	private List<List<String>> faults(String chapter) {
		String text = this.page.substring(this.page.indexOf(chapter + "\n") + chapter.length());
		return text.substring(0, text.indexOf("\n#"))
			.lines()
			.filter((line) -> line.startsWith("| "))
			.skip(1)
			.map((line) -> Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
			.toList();
	}

}
