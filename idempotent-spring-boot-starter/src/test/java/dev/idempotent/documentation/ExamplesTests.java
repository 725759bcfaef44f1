package dev.idempotent.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The examples of docs/testing-your-application.md and of docs/observability.md are those
 * that run.
 */
class ExamplesTests {

	private static final Path EXAMPLES = Path.of("src/test/java/dev/idempotent/documentation/example");

	/**
	 * What the page leaves out of an example.
	 */
	private static final String ELISION = " // … ";

	private static final String EXAMPLES_IN_PROJECT = "idempotent-spring-boot-starter/" + EXAMPLES + "/";

	@Test
	void ofTheTestingPageRun() throws IOException {
		String sources;
		try (Stream<Path> examples = Files.list(EXAMPLES)) {
			sources = examples.map(ExamplesTests::read).collect(Collectors.joining());
		}
		assertThat(Page.of("docs/testing-your-application.md").blocks("java")).hasSize(11)
			.allSatisfy((example) -> assertThat(words(sources)).contains(words(example).split(ELISION)));
	}

	@Test
	void ofTheObservabilityPageIsCompiled() {
		String source = Page.source("idempotent-spring-boot-starter/src/test/java/"
				+ "dev/idempotent/documentation/example/UnknownOutcomes.java");
		assertThat(Page.of("docs/observability.md").blocks("java")).singleElement()
			.satisfies((example) -> assertThat(source).contains(example.strip()));
	}

	private static String read(Path example) {
		return Page.source(EXAMPLES_IN_PROJECT + example.getFileName());
	}

	/**
	 * The page shows methods without the indentation of their class.
	 */
	private static String words(String code) {
		return code.strip().replaceAll("\\s+", " ");
	}

}
