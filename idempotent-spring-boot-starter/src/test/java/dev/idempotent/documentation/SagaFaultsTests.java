package dev.idempotent.documentation;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the faults in docs/saga-faults.md with the tests.
 */
class SagaFaultsTests {

	private final List<List<String>> faults = Page.of("docs/saga-faults.md")
		.text()
		.lines()
		.filter((line) -> line.startsWith("| "))
		.skip(1)
		.map((line) -> Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
		.toList();

	@Test
	void areNumbered() {
		assertThat(this.faults).extracting((row) -> row.get(0))
			.filteredOn((number) -> !number.isEmpty())
			.containsExactlyElementsOf(IntStream.rangeClosed(1, 27).mapToObj((number) -> "S" + number).toList());
	}

	@Test
	void haveAConsequenceAndATestThatExists() {
		TestReferences tests = TestReferences.read();
		assertThat(this.faults).allSatisfy((row) -> {
			assertThat(row).hasSize(4);
			assertThat(row.subList(1, 3)).doesNotContain("");
			assertThat(row.get(3)).matches(TestReferences.FORM);
			assertThat(tests.exist(row.get(3))).as(row.get(3)).isTrue();
		});
	}

}
