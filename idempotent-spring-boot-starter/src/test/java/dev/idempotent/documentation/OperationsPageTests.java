package dev.idempotent.documentation;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the example of docs/operations.md with the one that is compiled.
 */
class OperationsPageTests {

	@Test
	void showsTheObserverThatIsCompiled() {
		String source = Page.source("idempotent-spring-boot-starter/src/test/java/"
				+ "dev/idempotent/documentation/example/UnknownOutcomes.java");
		assertThat(Page.of("docs/operations.md").blocks("java")).singleElement()
			.satisfies((example) -> assertThat(source).contains(example.strip()));
	}

}
