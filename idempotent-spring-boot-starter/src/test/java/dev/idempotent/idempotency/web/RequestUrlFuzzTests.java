package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RequestUrl} and the {@link RequestFingerprinter} with query strings
 * that Jazzer generates.
 */
class RequestUrlFuzzTests {

	private static final Pattern ENCODED_OR_LETTER = Pattern.compile("%[0-9A-F]{2}|[ !-$&-~]");

	static Stream<byte[]> seeds() {
		return Stream
			.of("", "x=1&y=2&x=3", "&&=&x&=1", "x=%41+%2B&%78=%C3%A4", "x=%", "x=%zz&y=%F", "x=%FF%ed%a0%80",
					"a=b=c&a=%26&a=%3D", "x=\u00e9")
			.map((seed) -> seed.getBytes(StandardCharsets.ISO_8859_1));
	}

	@MethodSource("seeds")
	@FuzzTest(maxDuration = "10m")
	void areEqualInEverySpelling(byte[] query) {
		MockHttpServletRequest request = request(new String(query, StandardCharsets.ISO_8859_1));
		SortedMap<String, List<String>> parameters = RequestUrl.query(request);
		MockHttpServletRequest respelt = request(respelt(parameters));
		assertThat(RequestUrl.query(respelt)).isEqualTo(parameters);
		assertThat(digest(respelt)).isEqualTo(digest(request));
		assertThat(digest(request(request.getQueryString() + "&="))).isNotEqualTo(digest(request));
	}

	/**
	 * The same parameters with the names in reverse order and all ASCII letters encoded
	 * that are not part of an encoded byte.
	 */
	private static String respelt(SortedMap<String, List<String>> parameters) {
		return new TreeMap<>(parameters).descendingMap()
			.entrySet()
			.stream()
			.flatMap((parameter) -> parameter.getValue()
				.stream()
				.map((value) -> encoded(parameter.getKey()) + "=" + encoded(value)))
			.collect(Collectors.joining("&"));
	}

	private static String encoded(String text) {
		return ENCODED_OR_LETTER.matcher(text)
			.replaceAll((found) -> found.group().startsWith("%") ? found.group().toLowerCase(Locale.ROOT)
					: "%%%02x".formatted((int) found.group().charAt(0)));
	}

	private static String digest(MockHttpServletRequest request) {
		try {
			return RequestFingerprinter.of(null).fingerprint(BufferedRequest.read(request, 0), null).digest();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static MockHttpServletRequest request(String query) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/orders");
		request.setQueryString(query);
		return request;
	}

}
