package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class KeyHeaderTests {

	private final KeyHeader header = new KeyHeader("Idempotency-Key");

	@ParameterizedTest
	@CsvSource(quoteCharacter = '\'', textBlock = """
			8e03978e-40d5,     8e03978e-40d5
			"8e03978e-40d5",   8e03978e-40d5
			a"b,               a"b
			a\\b,              a\\b
			"a\\"b",           a"b
			"a\\\\b",          a\\b
			k;v=1,             k;v=1
			'"a,b"',           'a,b'
			~!@#$%^&*(),       ~!@#$%^&*()
			'"a b"',           a b
			'"a" ',            a
			'" a"',            ' a'
			"a";v,             a
			'"a";v=1; w="x,y"; x=?1; *y.z-_=tok/en:1; b=:YQ==:; n=-1.5', a
			'"a;v=1"',         a;v=1
			""")
	void readsBareAndQuotedKeysAlike(String value, String key) {
		assertThat(this.header.read(requestWith(value))).isEqualTo(key);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\"\"", "\"", "\"abc", "\"abc\\\"", "\"a\\b\"", "\"a\"b\"", "\"a\" \"b\"", "a b",
			"\" \"", "\"a\" ;v=1", "\"a\";", "\"a\";V=1", "\"a\";v=", "\"a\";v=1, \"b\"", "\"a\";v=\"",
			"\"a\";v=1.2345", "\"a\";v=?2", "\"a\tb\"", "\"\u00e9\"", "a\tb", "a,b", "a,", ",a", ",", "a,\"b\"",
			"\"a\",\"b\"", "\"a\",b", "a\u0000b", "a\u007fb", "ключ", "a\u00a0b" })
	void refusesMalformedKeys(String value) {
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> this.header.read(requestWith(value)))
			.satisfies((ex) -> assertThat(ex.problem()).isEqualTo(Problem.KEY_MALFORMED));
	}

	@Test
	void takesKeysOfUpTo255Characters() {
		assertThat(this.header.read(requestWith("k".repeat(255)))).hasSize(255);
		assertThat(this.header.read(requestWith('"' + "k".repeat(255) + '"'))).hasSize(255);
		assertThatExceptionOfType(RefusedRequestException.class)
			.isThrownBy(() -> this.header.read(requestWith("k".repeat(256))));
	}

	@Test
	void ignoresAnyNumberOfParameters() {
		assertThat(this.header.read(requestWith("\"k\"" + ";v=\"\\\"\"".repeat(100_000)))).isEqualTo("k");
	}

	@Test
	void refusesTheHeaderSentTwice() {
		MockHttpServletRequest request = requestWith("k");
		request.addHeader("idempotency-key", "k");
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> this.header.read(request))
			.satisfies((ex) -> assertThat(ex.detail()).contains("Idempotency-Key", "more than once"));
	}

	@Test
	void refusesTwoHeadersMergedByAProxy() {
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> this.header.read(requestWith("a,b")))
			.satisfies((ex) -> assertThat(ex.detail()).contains("Idempotency-Key", "comma", "quoted string"));
	}

	@Test
	void distinguishesAMissingHeaderFromAnEmptyOne() {
		assertThat(this.header.read(new MockHttpServletRequest())).isNull();
	}

	@Test
	void neverEchoesTheValue() {
		assertThatExceptionOfType(RefusedRequestException.class)
			.isThrownBy(() -> this.header.read(requestWith("secret value")))
			.satisfies((ex) -> assertThat(ex.detail()).doesNotContain("secret"))
			.withMessageNotContaining("secret");
	}

	static Stream<byte[]> seeds() {
		return Stream
			.of("", "8e03978e-40d5", "\"8e03978e-40d5\"", "\"a\\\"b\\\\c\"", "\"open", "a\"b", "\"a\";v=1", "a,b",
					"\"a,b\"", "k".repeat(256), '"' + "\\\"".repeat(255) + '"', "a\r\n b", "\u00e9")
			.map((seed) -> seed.getBytes(StandardCharsets.ISO_8859_1));
	}

	@MethodSource("seeds")
	@FuzzTest(maxDuration = "10m")
	void readsAnyKeyTheSameBareAndQuotedOrRefusesIt(byte[] value) {
		String key = read(new String(value, StandardCharsets.ISO_8859_1));
		if (key != null) {
			assertThat(key).matches("[ -~]{1,255}");
			assertThat(read('"' + key.replaceAll("[\"\\\\]", "\\\\$0") + '"')).isEqualTo(key);
			boolean needsQuotes = key.startsWith("\"") || key.contains(",") || key.contains(" ");
			assertThat(needsQuotes ? key : read(key)).isEqualTo(key);
		}
	}

	private static MockHttpServletRequest requestWith(String value) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.addHeader("Idempotency-Key", value);
		return request;
	}

	private @Nullable String read(String value) {
		try {
			return this.header.read(requestWith(value));
		}
		catch (RefusedRequestException ex) {
			assertThat(ex.problem()).isEqualTo(Problem.KEY_MALFORMED);
			return null;
		}
	}

}
