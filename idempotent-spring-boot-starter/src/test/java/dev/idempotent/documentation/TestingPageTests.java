package dev.idempotent.documentation;

import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the examples of docs/testing-your-application.md with those that run.
 */
class TestingPageTests {

	private static final String EXAMPLES = "idempotent-spring-boot-starter/src/test/java/"
			+ "dev/idempotent/documentation/example/";

	@Test
	void showsTheExamplesThatRun() {
		String sources = Stream.of("OrderTests", "OrderControllerTests", "RecordedEvents", "DeliveredOrderTests")
			.map((name) -> Page.source(EXAMPLES + name + ".java"))
			.collect(Collectors.joining());
		assertThat(Page.of("docs/testing-your-application.md").blocks("java")).hasSize(4)
			.allSatisfy((example) -> assertThat(sources).contains(example.strip()));
	}

}
