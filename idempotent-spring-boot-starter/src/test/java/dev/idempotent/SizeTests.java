package dev.idempotent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClass;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The longest way through one room. How long a file or a page may be is judged in
 * reviews.
 */
class SizeTests {

	private static final int MOST_FLOORS = 6;

	private static final List<JavaClass> LIBRARY = LibraryClasses.ALL.stream()
		.filter((type) -> !type.isAnonymousClass() && !type.getSimpleName().equals("package-info"))
		.toList();

	/**
	 * The longest chain of files of one package, each of which uses the next.
	 */
	@Test
	void hasFewFloorsInEachPackage() {
		Map<String, Set<String>> used = usedInRoom();
		Map<String, Integer> floors = new HashMap<>();
		used.keySet().forEach((file) -> floors.merge(room(file), floor(file, used, Set.of()), Math::max));
		assertThat(floors).allSatisfy((room, floor) -> assertThat(floor).isLessThanOrEqualTo(MOST_FLOORS));
	}

	/**
	 * Which files of its room each file uses.
	 */
	private static Map<String, Set<String>> usedInRoom() {
		Map<String, Set<String>> used = new HashMap<>();
		LIBRARY.stream().flatMap((type) -> type.getDirectDependenciesFromSelf().stream()).forEach((dependency) -> {
			String origin = file(dependency.getOriginClass());
			String target = file(dependency.getTargetClass());
			if (room(origin).equals(room(target)) && !origin.equals(target)) {
				used.computeIfAbsent(origin, (file) -> new TreeSet<>()).add(target);
			}
		});
		return used;
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
		return file.substring(0, Math.max(0, file.lastIndexOf('.')));
	}

}
