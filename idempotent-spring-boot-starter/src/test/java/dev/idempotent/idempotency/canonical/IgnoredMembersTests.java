package dev.idempotent.idempotency.canonical;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.util.StringUtils;
import tools.jackson.core.JsonPointer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CanonicalJson} without some members.
 */
class IgnoredMembersTests {

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', textBlock = """
			/a       | {"a":1,"b":2}                          | {"b":2}
			/a       | {"b":{"a":1},"c":[{"a":2}]}            | {"b":{"a":1},"c":[{"a":2}]}
			/a       | {"a":{"a":[{}]},"b":[]}                | {"b":[]}
			/a       | ["a",{"a":1}]                          | ["a",{"a":1}]
			/a       | "a"                                    | "a"
			/a/b     | {"a":{"b":1,"c":{"b":2}},"b":3}        | {"a":{"c":{"b":2}},"b":3}
			/a/b     | {"a":[{"b":1}],"c":{"b":1}}            | {"a":[{"b":1}],"c":{"b":1}}
			/a/b/c   | {"a":{"c":1,"b":{"c":2}},"b":{"c":3}}  | {"a":{"b":{},"c":1},"b":{"c":3}}
			/a/1/b   | {"a":[{"b":1},{"b":2},{"b":3}]}        | {"a":[{"b":1},{},{"b":3}]}
			/a/1/b   | {"a":[[],{"b":2},3],"b":[0,{"b":1}]}   | {"a":[[],{},3],"b":[0,{"b":1}]}
			/a/1/b   | {"a":{"1":{"b":2}}}                    | {"a":{"1":{}}}
			/a/01/b  | {"a":[{"b":1},{"b":2}]}                | {"a":[{"b":1},{"b":2}]}
			/0/1/b   | [[0,{"b":1}],[0,{"b":1}]]              | [[0,{}],[0,{"b":1}]]
			/a/0     | {"a":["b"]}                            | {"a":["b"]}
			/a~1b/~0 | {"a/b":{"~":1},"a":{"b":{"~":2}}}      | {"a":{"b":{"~":2}},"a/b":{}}
			/a//b    | {"a":{"":{"b":1},"b":2}}               | {"a":{"":{},"b":2}}
			/a /a/b  | {"a":{"b":1},"b":2}                    | {"b":2}
			/a/b /a/c /d | {"a":{"b":1,"c":2,"d":3},"d":4}    | {"a":{"d":3}}
			""")
	void areOmittedAtTheirPointers(String pointers, String json, String expected) {
		assertThat(without(pointers, json)).isEqualTo(expected);
	}

	private static @Nullable String without(String pointers, String json) {
		byte[] canonical = CanonicalJson
			.without(Arrays.stream(StringUtils.delimitedListToStringArray(pointers, " "))
				.map(JsonPointer::compile)
				.collect(Collectors.toSet()))
			.encode(json.getBytes(StandardCharsets.UTF_8));
		return (canonical != null) ? new String(canonical, StandardCharsets.UTF_8) : null;
	}

}
