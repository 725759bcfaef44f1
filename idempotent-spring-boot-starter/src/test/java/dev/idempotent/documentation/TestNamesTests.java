package dev.idempotent.documentation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keeps the names of our test classes out of the pages for users.
 */
class TestNamesTests {

	private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w*Tests\\b");

	/**
	 * Contributors run tests by their name; each act, each fault of a saga and each
	 * threat names its test.
	 */
	private static final Set<String> EXCEPT = Set.of("docs/architecture.md", "docs/crash-tests.md", "docs/faults.md",
			"docs/participants.md", "docs/SECURITY.md");

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

}
