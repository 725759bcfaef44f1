package dev.idempotent.documentation;

import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares README.md with what it shows.
 */
class ReadmeTests {

	private static final String EXAMPLE = "idempotent-spring-boot-starter/src/test/java/"
			+ "dev/idempotent/documentation/example/OrderController.java";

	private final Page readme = Page.of("README.md");

	@Test
	void hasAtMostNineHundredWords() {
		assertThat(this.readme.text().strip().split("\\s+")).hasSizeLessThanOrEqualTo(900);
	}

	@Test
	void showsTheExampleThatRuns() {
		assertThat(this.readme.blocks("java")).singleElement().satisfies((code) -> {
			assertThat(code.lines()).hasSizeLessThanOrEqualTo(10);
			assertThat(Page.source(EXAMPLE).replace("\n\t", "\n")).contains(code);
		});
	}

	@Test
	void namesTheVersionThatIsBuilt() {
		String version = Pattern.compile("<version>(.+?)</version>")
			.matcher(Page.source("pom.xml"))
			.results()
			.findFirst()
			.orElseThrow()
			.group();
		assertThat(this.readme.blocks("xml")).singleElement().asString().contains(version);
	}

	@Test
	void sendsTheOrderOfTheBuild() {
		String order = "-d '{\"userId\":\"ada\",\"item\":\"coupon\",\"amount\":1}'";
		assertThat(this.readme.text()).contains(order, "./mvnw verify", "./mvnw spring-boot:run", "./mvnw install");
		assertThat(Page.source(".ci/run")).contains(order, "./mvnw -B -ntp verify");
	}

}
