package dev.idempotent.documentation;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.idempotent.LibraryClasses;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares docs/architecture.md with the code.
 */
class ArchitecturePageTests {

	private static final String ROOT = "dev.idempotent";

	private static final Pattern ROOM = Pattern.compile("^ *(\\w+)\\[\"(.+)\"]$", Pattern.MULTILINE);

	private static final Pattern ARROW = Pattern.compile("^ *(\\w+) --> (\\w+(?: & \\w+)*)$", Pattern.MULTILINE);

	private final Page page = Page.of("docs/architecture.md");

	private final String picture = this.page.blocks("mermaid").get(0);

	@Test
	void drawsEveryPackage() {
		assertThat(rooms().values()).containsExactlyInAnyOrderElementsOf(
				LibraryClasses.ALL.stream().map(ArchitecturePageTests::room).collect(Collectors.toSet()));
	}

	@Test
	void drawsEveryUseThatItDoesNotLeaveOut() {
		Map<String, String> rooms = rooms();
		assertThat(ARROW.matcher(this.picture)
			.results()
			.flatMap((arrow) -> Stream.of(arrow.group(2).split(" & "))
				.map((used) -> rooms.get(arrow.group(1)) + " --> " + rooms.get(used))))
			.containsExactlyInAnyOrderElementsOf(uses());
	}

	@Test
	void namesClassesOfTheStarter() {
		Set<String> known = LibraryClasses.ALL.stream().map(JavaClass::getSimpleName).collect(Collectors.toSet());
		known.addAll(Set.of("Transactional", "DefaultValue"));
		known.addAll(Page.sources("src/test/java"));
		assertThat(this.page.codeSpans()).filteredOn((span) -> span.matches("@?[A-Z]\\w*[a-z]\\w*"))
			.hasSizeGreaterThan(60)
			.filteredOn((span) -> !known.contains(span.replace("@", "")))
			.isEmpty();
	}

	@Test
	void namesTheEvidenceAndATestOfEachAct() {
		String text = this.page.text();
		List<List<String>> rows = text.substring(text.indexOf("## What each act requires"))
			.lines()
			.filter((line) -> line.startsWith("|") && !line.startsWith("| act |") && !line.startsWith("|---"))
			.map((line) -> Stream.of(line.split("\\|")).skip(1).map(String::strip).toList())
			.toList();
		TestReferences tests = TestReferences.read();
		assertThat(rows).isNotEmpty().allSatisfy((row) -> {
			assertThat(row).as(row.toString()).hasSize(4).doesNotContain("");
			assertThat(tests.exist(row.get(3))).as(row.get(3)).isTrue();
		});
	}

	private Map<String, String> rooms() {
		return ROOM.matcher(this.picture)
			.results()
			.collect(Collectors.toMap((MatchResult room) -> room.group(1), (room) -> room.group(2)));
	}

	private static Set<String> uses() {
		Set<String> uses = new TreeSet<>();
		for (JavaClass user : LibraryClasses.ALL) {
			user.getDirectDependenciesFromSelf()
				.stream()
				.map((dependency) -> dependency.getTargetClass().getBaseComponentType())
				.filter((used) -> used.getPackageName().startsWith(ROOT))
				.filter((used) -> isDrawn(room(user), room(used)))
				.forEach((used) -> uses.add(room(user) + " --> " + room(used)));
		}
		return uses;
	}

	private static boolean isDrawn(String user, String used) {
		boolean leftOut = user.startsWith("autoconfigure") || used.equals(ROOT)
				|| Stream.of("idempotency", "outbox", "saga", "transition", "stream")
					.anyMatch((root) -> used.equals(root) && user.startsWith(root));
		return !user.equals(used) && !leftOut;
	}

	private static String room(JavaClass type) {
		String name = type.getPackageName();
		return name.equals(ROOT) ? ROOT : name.substring(ROOT.length() + 1);
	}

}
