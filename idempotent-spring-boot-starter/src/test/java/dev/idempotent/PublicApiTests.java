package dev.idempotent;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Makes each change of a public type a decision that shows in a diff.
 */
class PublicApiTests {

	/**
	 * What applications and extenders may use, grouped by reader, with each signature.
	 */
	private static final Path API = Path.of("src/test/resources/public-api.txt");

	private static final int MOST_API_TYPES = 79;

	private static final int MOST_PUBLIC_TYPES = 167;

	private static final Set<String> OF_EVERY_TYPE = Set.of("equals", "hashCode", "toString", "values", "valueOf");

	@Test
	void changesOnlyTogetherWithItsFile() throws IOException {
		List<String> stated = lines(API);
		Set<String> types = apiTypes();
		List<String> actual = signatures((type) -> types.contains(topLevelName(type)));
		assertSameLines(API, stated, actual);
	}

	@Test
	void staysSmall() throws IOException {
		assertThat(apiTypes()).hasSizeLessThanOrEqualTo(MOST_API_TYPES);
		assertThat(publicTypes()).hasSizeLessThanOrEqualTo(MOST_PUBLIC_TYPES);
	}

	@Test
	void isWhatTheJavadocShows() throws IOException {
		Set<String> shown = Pattern.compile("<sourceFileInclude>(.*)\\.java</sourceFileInclude>")
			.matcher(Files.readString(Path.of("pom.xml")))
			.results()
			.map((match) -> match.group(1).replace('/', '.'))
			.filter((type) -> !type.endsWith(".package-info"))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(shown).isEqualTo(apiTypes());
	}

	static List<String> signatures(Predicate<JavaClass> chosen) {
		return LibraryClasses.ALL.stream()
			.filter(chosen)
			.map(JavaClass::reflect)
			.filter(PublicApiTests::isVisible)
			.flatMap(PublicApiTests::signatures)
			.sorted()
			.toList();
	}

	private static Set<String> apiTypes() throws IOException {
		return lines(API).stream()
			.map((line) -> line.replaceAll("[$:].*", ""))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static List<JavaClass> publicTypes() {
		return LibraryClasses.ALL.stream()
			.filter((type) -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
			.toList();
	}

	private static String topLevelName(JavaClass type) {
		return type.getName().replaceAll("\\$.*", "");
	}

	private static List<String> lines(Path file) throws IOException {
		return Files.readAllLines(file).stream().filter((line) -> !line.isBlank() && !line.startsWith("#")).toList();
	}

	private static void assertSameLines(Path file, List<String> stated, List<String> actual) {
		Stream<String> added = actual.stream().filter((line) -> !stated.contains(line)).map("+ "::concat);
		Stream<String> removed = stated.stream().filter((line) -> !actual.contains(line)).map("- "::concat);
		assertThat(Stream.concat(added, removed)).as("lines to add to (+) and to remove from (-) %s", file).isEmpty();
	}

	private static boolean isVisible(Class<?> type) {
		Class<?> outer = type.getDeclaringClass();
		return isVisible(type.getModifiers()) && (outer == null || isVisible(outer));
	}

	private static boolean isVisible(int modifiers) {
		return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
	}

	private static Stream<String> signatures(Class<?> type) {
		String name = type.getName().substring(type.getPackageName().length() + 1);
		return Stream.of(declaration(type), supertypes(type), members(type))
			.flatMap((lines) -> lines)
			.map((line) -> line.replaceAll("\\b([a-z]\\w*\\.)+(?=\\w)", "").replace(name + ".", ""))
			.map((line) -> type.getName() + ": " + line);
	}

	private static Stream<String> declaration(Class<?> type) {
		return Stream.of(Modifier.toString(type.getModifiers()) + (type.isSealed() ? " sealed" : ""));
	}

	private static Stream<String> supertypes(Class<?> type) {
		return Stream.concat(Stream.ofNullable(type.getGenericSuperclass()), Stream.of(type.getGenericInterfaces()))
			.filter((supertype) -> supertype != Object.class)
			.map((supertype) -> "is a " + supertype.getTypeName());
	}

	private static Stream<String> members(Class<?> type) {
		return Stream.of(type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
			.flatMap(Arrays::stream)
			.filter((member) -> isVisible(member.getModifiers()) && !member.isSynthetic())
			.filter((member) -> !OF_EVERY_TYPE.contains(member.getName()))
			.map(PublicApiTests::signature);
	}

	private static String signature(Member member) {
		return (member instanceof Executable executable) ? executable.toGenericString()
				: ((Field) member).toGenericString();
	}

}
