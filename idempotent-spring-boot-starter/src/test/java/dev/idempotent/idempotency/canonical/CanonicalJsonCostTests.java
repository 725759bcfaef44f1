package dev.idempotent.idempotency.canonical;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JsonPointer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cost of {@link CanonicalJson} depends on the length of a document only, not on its
 * structure. Memory is measured, since it does not depend on the load of the machine.
 */
class CanonicalJsonCostTests {

	private static final int LENGTH = 20_000;

	private static final int TIMES_LONGER = 4;

	private static final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private static final CanonicalJson FORM = CanonicalJson.without(Stream.of("/requestedAt", "/a/0/b", "/n/n/n/n")
		.map(JsonPointer::compile)
		.collect(Collectors.toUnmodifiableSet()));

	static Stream<Named<IntFunction<String>>> documents() {
		return Stream.of(Named.of("members below a long name", CanonicalJsonCostTests::belowALongName),
				Named.of("members below 100 long names", CanonicalJsonCostTests::belowManyLongNames),
				Named.of("members with long names", (length) -> object(length / 1_000, (i) -> "n".repeat(1_000) + i)),
				Named.of("members with short names", (length) -> object(length / 10, "%06x"::formatted)),
				Named.of("members in reverse order", (length) -> object(length / 10, (i) -> "%06x".formatted(-i))),
				Named.of("objects in an array", (length) -> "[" + "{\"b\":[]},".repeat(length / 9) + "1]"));
	}

	@ParameterizedTest
	@MethodSource("documents")
	void growsWithTheLengthAndNotWithItsSquare(IntFunction<String> document) {
		long cost = cost(document.apply(LENGTH));
		assertThat(cost(document.apply(TIMES_LONGER * LENGTH))).isLessThan(2 * TIMES_LONGER * cost);
	}

	@ParameterizedTest
	@ValueSource(strings = { "1", "0.", "1.", "-1.5e" })
	void isNoHigherForLongNumbersThanForTextOfTheirLength(String beginning) {
		String digits = beginning + "0".repeat(900) + "1" + (beginning.endsWith("e") ? "" : "0".repeat(90));
		String numbers = "[" + (digits + ",").repeat(20) + "1]";
		String texts = "[" + ("\"" + digits + "\",").repeat(20) + "1]";
		assertThat(cost(numbers)).isLessThan(4 * cost(texts));
	}

	private static long cost(String json) {
		byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
		long[] costs = new long[3];
		for (int i = 0; i < costs.length; i++) {
			long before = threads.getCurrentThreadAllocatedBytes();
			assertThat(FORM.encode(bytes)).isNotNull();
			costs[i] = threads.getCurrentThreadAllocatedBytes() - before;
		}
		Arrays.sort(costs);
		return costs[costs.length / 2];
	}

	private static String belowALongName(int length) {
		return "{\"" + "n".repeat(length / 2) + "\":" + object(length / 20, "%06x"::formatted) + "}";
	}

	private static String belowManyLongNames(int length) {
		return ("{\"" + "n".repeat(length / 200) + "\":").repeat(100) + object(length / 20, "%06x"::formatted)
				+ "}".repeat(100);
	}

	private static String object(int members, IntFunction<String> name) {
		return IntStream.range(0, members)
			.mapToObj((i) -> "\"" + name.apply(i) + "\":1")
			.collect(Collectors.joining(",", "{", "}"));
	}

}
