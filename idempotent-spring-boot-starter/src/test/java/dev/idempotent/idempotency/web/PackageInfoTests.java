package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The package describes the way of a request through all of its classes.
 */
class PackageInfoTests {

	private static final Path PACKAGE = Path.of("src/main/java/dev/idempotent/idempotency/web");

	private static final Pattern NAME = Pattern.compile("\\{@code (\\w+)}");

	@Test
	void namesEachClass() throws IOException {
		List<String> named = NAME.matcher(Files.readString(PACKAGE.resolve("package-info.java")))
			.results()
			.map((match) -> match.group(1))
			.distinct()
			.toList();
		try (Stream<Path> files = Files.list(PACKAGE)) {
			assertThat(files.map((file) -> file.getFileName().toString().replace(".java", ""))
				.filter((name) -> !name.equals("package-info"))).containsExactlyInAnyOrderElementsOf(named);
		}
	}

}
