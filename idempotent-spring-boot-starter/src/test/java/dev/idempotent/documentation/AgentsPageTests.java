package dev.idempotent.documentation;

import java.util.Locale;
import java.util.stream.Stream;

import dev.idempotent.idempotency.ToolRefusal.Reason;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the sentences of the page on tools with those that models read.
 */
class AgentsPageTests {

	@Test
	void showsWhatAModelReads() {
		assertThat(Page.of("docs/agents.md").text().lines().filter((line) -> line.startsWith("| `")))
			.map((row) -> row.replaceFirst("(\\| `[^`]*` \\|)[^|]*\\|", "$1"))
			.containsExactlyElementsOf(Stream.of(Reason.values())
				.map((reason) -> "| `%s` | %s |".formatted(reason.name().toLowerCase(Locale.ROOT).replace('_', '-'),
						reason.sentence()))
				.toList());
	}

}
