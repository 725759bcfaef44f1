package dev.idempotent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import dev.idempotent.documentation.Page;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keeps the library and its documentation from growing unnoticed. Lower a limit when a
 * count falls; {@link PublicApiTests} counts the public types.
 */
class SizeTests {

	private static final int MOST_TYPES = 571;

	private static final int MOST_LINES = 28_600;

	private static final int MOST_FILES_WITH_ONE_USER = 60;

	private static final int MOST_FLOORS = 6;

	private static final int MOST_WORDS = 42_000;

	/**
	 * The bars of tables are none.
	 */
	private static final Pattern WORD = Pattern.compile("\\S*[A-Za-z0-9]\\S*");

	private static final Path SOURCES = Path.of("src/main/java");

	private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

	private static final List<JavaClass> LIBRARY = LibraryClasses.ALL.stream()
		.filter((type) -> !type.isAnonymousClass() && !type.getSimpleName().equals("package-info"))
		.toList();

	@Test
	void hasFewTypes() {
		assertThat(LIBRARY).hasSizeLessThanOrEqualTo(MOST_TYPES);
	}

	@Test
	void hasFewLinesOfCode() throws IOException {
		try (Stream<Path> files = Files.walk(SOURCES)) {
			assertThat(files.filter((file) -> file.toString().endsWith(".java")).mapToLong(SizeTests::lines).sum())
				.isLessThanOrEqualTo(MOST_LINES);
		}
	}

	/**
	 * Files of package-private types that exactly one other file uses.
	 */
	@Test
	void hasFewFilesThatOnlyOneOtherUses() {
		Map<String, Set<String>> users = uses((dependency) -> true, true);
		Set<String> lonely = new TreeSet<>();
		users.forEach((file, using) -> {
			if (using.size() == 1) {
				lonely.add(file);
			}
		});
		LIBRARY.stream()
			.filter((type) -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
			.forEach((type) -> lonely.remove(type.getName()));
		assertThat(lonely).hasSizeLessThanOrEqualTo(MOST_FILES_WITH_ONE_USER);
	}

	/**
	 * The longest chain of files of one package, each of which uses the next.
	 */
	@Test
	void hasFewFloorsInEachPackage() {
		Map<String, Set<String>> used = uses((dependency) -> dependency.getOriginClass()
			.getPackageName()
			.equals(dependency.getTargetClass().getPackageName()), false);
		Map<String, Integer> floors = new HashMap<>();
		used.keySet().forEach((file) -> floors.merge(room(file), floor(file, used, Set.of()), Math::max));
		assertThat(floors).allSatisfy((room, floor) -> assertThat(floor).isLessThanOrEqualTo(MOST_FLOORS));
	}

	@Test
	void hasAShortDocumentation() {
		assertThat(Page.all().stream().mapToLong((page) -> WORD.matcher(page.text()).results().count()).sum())
			.isLessThanOrEqualTo(MOST_WORDS);
	}

	/**
	 * Without comments, blank lines and imports.
	 */
	private static long lines(Path file) {
		try {
			return COMMENT.matcher(Files.readString(file))
				.replaceAll("")
				.lines()
				.filter((line) -> !line.isBlank() && !line.startsWith("import ") && !line.startsWith("package "))
				.count();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Which files use which others.
	 * @param reversed whether to return the users of each file instead
	 */
	private static Map<String, Set<String>> uses(Predicate<Dependency> counted, boolean reversed) {
		Map<String, Set<String>> uses = new HashMap<>();
		LIBRARY.stream()
			.flatMap((type) -> type.getDirectDependenciesFromSelf().stream())
			.filter((dependency) -> file(dependency.getTargetClass()).startsWith("dev.idempotent."))
			.filter(counted)
			.forEach((dependency) -> {
				String origin = file(dependency.getOriginClass());
				String target = file(dependency.getTargetClass());
				if (!origin.equals(target)) {
					uses.computeIfAbsent(reversed ? target : origin, (file) -> new TreeSet<>())
						.add(reversed ? origin : target);
				}
			});
		return uses;
	}

	/**
	 * The length of the longest chain from a file that enters no file twice.
	 */
	private static int floor(String file, Map<String, Set<String>> used, Set<String> above) {
		Set<String> path = Stream.concat(above.stream(), Stream.of(file)).collect(Collectors.toSet());
		return 1 + used.getOrDefault(file, Set.of())
			.stream()
			.filter((next) -> !path.contains(next))
			.mapToInt((next) -> floor(next, used, path))
			.max()
			.orElse(0);
	}

	private static String file(JavaClass type) {
		return type.getBaseComponentType().getName().replaceAll("\\$.*", "");
	}

	private static String room(String file) {
		return file.substring(0, file.lastIndexOf('.'));
	}

}
