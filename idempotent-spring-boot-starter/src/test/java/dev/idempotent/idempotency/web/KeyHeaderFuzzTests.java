package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link KeyHeader} with values that Jazzer makes up.
 */
class KeyHeaderFuzzTests {

	private static final KeyHeader header = new KeyHeader("Idempotency-Key");

	static Stream<byte[]> seeds() {
		return Stream
			.of("", "8e03978e-40d5", "\"8e03978e-40d5\"", "\"a\\\"b\\\\c\"", "\"open", "a\"b", "\"a\";v=1", "a,b",
					"\"a,b\"", "k".repeat(256), '"' + "\\\"".repeat(255) + '"', "a\r\n b", "\u00e9")
			.map((seed) -> seed.getBytes(StandardCharsets.ISO_8859_1));
	}

	@MethodSource("seeds")
	@FuzzTest(maxDuration = "10m")
	void isReadTheSameBareAndQuotedOrRefused(byte[] value) {
		String key = read(new String(value, StandardCharsets.ISO_8859_1));
		if (key != null) {
			assertThat(key).matches("[ -~]{1,255}");
			assertThat(read('"' + key.replaceAll("[\"\\\\]", "\\\\$0") + '"')).isEqualTo(key);
			boolean needsQuotes = key.startsWith("\"") || key.contains(",") || key.contains(" ");
			assertThat(needsQuotes ? key : read(key)).isEqualTo(key);
		}
	}

	private static @Nullable String read(String value) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.addHeader("Idempotency-Key", value);
		try {
			return header.read(request);
		}
		catch (RefusedRequestException ex) {
			assertThat(ex.problem()).isEqualTo(Problem.KEY_MALFORMED);
			return null;
		}
	}

}
