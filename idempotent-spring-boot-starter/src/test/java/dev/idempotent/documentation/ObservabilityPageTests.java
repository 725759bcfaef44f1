package dev.idempotent.documentation;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the example of docs/observability.md with the one that is compiled.
 */
class ObservabilityPageTests {

	@Test
	void showsTheObserverThatIsCompiled() {
		String source = Page.source("idempotent-spring-boot-starter/src/test/java/"
				+ "dev/idempotent/documentation/example/UnknownOutcomes.java");
		assertThat(Page.of("docs/observability.md").blocks("java")).singleElement()
			.satisfies((example) -> assertThat(source).contains(example.strip()));
	}

}
