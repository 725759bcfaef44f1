package dev.idempotent.documentation;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Follows each link from one file of the project to another.
 */
class LinksTests {

	private static final List<Page> PAGES = Page.all();

	@Test
	void leadToFilesAndHeadingsThatExist() {
		List<String> broken = new ArrayList<>();
		PAGES.forEach((page) -> page.links()
			.stream()
			.filter((link) -> !link.matches("\\w+:.*"))
			.filter((link) -> !exists(page, link))
			.forEach((link) -> broken.add(page + ": " + link)));
		assertThat(broken).isEmpty();
	}

	@Test
	void leadFromTheReadmeToEachPage() {
		Page readme = Page.of("README.md");
		List<Path> linked = readme.links().stream().map((link) -> readme.resolve(link).normalize()).toList();
		assertThat(PAGES).filteredOn((page) -> page.path().matches("docs/[^/]+"))
			.allSatisfy((page) -> assertThat(linked).contains(page.resolve("").normalize()));
	}

	private static boolean exists(Page page, String link) {
		String[] parts = link.split("#", 2);
		Path target = page.resolve(parts[0]).normalize();
		return Files.exists(target) && (parts.length == 1 || hasHeading(target, parts[1]));
	}

	private static boolean hasHeading(Path target, String anchor) {
		return PAGES.stream()
			.anyMatch((page) -> page.resolve("").normalize().equals(target) && page.anchors().contains(anchor));
	}

}
