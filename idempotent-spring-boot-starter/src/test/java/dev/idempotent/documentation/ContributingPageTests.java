package dev.idempotent.documentation;

import java.util.HashSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares docs/contributing.md with the code.
 */
class ContributingPageTests {

	@Test
	void namesClassesThatExist() {
		Set<String> known = new HashSet<>(Page.sources("src/main/java"));
		known.addAll(Page.sources("src/test/java"));
		assertThat(Page.of("docs/contributing.md").codeSpans()).filteredOn((span) -> span.matches("[A-Z]\\w*[a-z]\\w*"))
			.hasSizeGreaterThan(15)
			.filteredOn((span) -> !known.contains(span))
			.isEmpty();
	}

}
