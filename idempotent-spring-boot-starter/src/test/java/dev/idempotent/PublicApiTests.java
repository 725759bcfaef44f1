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
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Makes each change of what users and extenders can see a decision that shows in a diff.
 */
class PublicApiTests {

	private static final Path FILE = Path.of("src/test/resources/public-api.txt");

	private static final Set<String> OF_EVERY_TYPE = Set.of("equals", "hashCode", "toString", "values", "valueOf");

	@Test
	void changesOnlyTogetherWithItsFile() throws IOException {
		List<String> stated = Files.readAllLines(FILE);
		List<String> actual = publicApi();
		Stream<String> added = actual.stream().filter((line) -> !stated.contains(line)).map("+ "::concat);
		Stream<String> removed = stated.stream().filter((line) -> !actual.contains(line)).map("- "::concat);
		assertThat(Stream.concat(added, removed)).as("lines to add to (+) and to remove from (-) %s", FILE).isEmpty();
		assertThat(stated).as("lines of %s", FILE).isSorted();
	}

	private static List<String> publicApi() {
		return new ClassFileImporter().withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
			.importPackages("dev.idempotent")
			.stream()
			.map(JavaClass::reflect)
			.filter(PublicApiTests::isVisible)
			.flatMap(PublicApiTests::lines)
			.sorted()
			.toList();
	}

	private static boolean isVisible(Class<?> type) {
		Class<?> outer = type.getDeclaringClass();
		return isVisible(type.getModifiers()) && (outer == null || isVisible(outer));
	}

	private static boolean isVisible(int modifiers) {
		return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
	}

	private static Stream<String> lines(Class<?> type) {
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
