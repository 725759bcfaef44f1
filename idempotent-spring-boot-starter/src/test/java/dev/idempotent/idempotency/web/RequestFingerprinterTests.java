package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;

import dev.idempotent.idempotency.Fingerprint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

class RequestFingerprinterTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/a?x=1&y=2       | /a?y=2&x=1
			/a?x=1&y=2&x=3   | /a?y=2&x=1&x=3
			/a?x=%41         | /a?x=A
			/a?x=1%202       | /a?x=1+2
			/a?              | /a
			/a?&x=1&&        | /a?x=1
			/a%62c           | /abc
			/%C3%A4          | /%c3%a4
			""")
	void isEqualForSpellingsOfOneUrl(String one, String other) {
		assertThat(ofUrl(one)).isEqualTo(ofUrl(other));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/a?x=1&x=2       | /a?x=2&x=1
			/a?x=1&y=2       | /a?x=1%26y=2
			/a?x=12          | /a?x1=2
			/a?x=            | /a
			/a?x=1           | /a?x=1&x=1
			/a?x=1           | /a/x=1
			/a/b             | /a%2Fb
			/a               | /a/
			/a?X=1           | /a?x=1
			/a?x=1&y=2,z=3   | /a?x=1,y=2&z=3
			""")
	void differsForUrlsThatSaySomethingElse(String one, String other) {
		assertThat(ofUrl(one)).isNotEqualTo(ofUrl(other));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
			application/json                | {"a":1,"b":[2]}  | { "b": [2.0], "a": 10e-1 }
			application/json;charset=UTF-8  | {"a":"\\u0041"}  | {"a":"A"}
			application/merge-patch+json    | {"a":1,"b":2}    | {"b":2,"a":1}
			APPLICATION/JSON                | {"a":1,"b":2}    | {"b":2,"a":1}
			""")
	void comparesJsonByMeaning(String contentType, String one, String other) {
		assertThat(ofBody(contentType, one)).isEqualTo(ofBody(contentType, other));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
			application/json  | {"a":9007199254740993} | {"a":9007199254740992}
			application/json  | {"a":1}                | {"a":"1"}
			application/json  | {"a":1,"a":2}          | {"a":2,"a":1}
			application/json  | {"a":1                 | { "a":1
			text/plain        | {"a":1,"b":2}          | {"b":2,"a":1}
			no-type           | {"a":1}                | {"a": 1}
			""")
	void comparesOtherBodiesByTheirBytes(String contentType, String one, String other) {
		assertThat(ofBody(contentType, one)).isNotEqualTo(ofBody(contentType, other));
		assertThat(ofBody(contentType, one)).isEqualTo(ofBody(contentType, one));
	}

	@Test
	void differsForOtherMethods() {
		byte[] body = new byte[0];
		assertThat(RequestFingerprinter.fingerprint(new MockHttpServletRequest("POST", "/a"), body))
			.isNotEqualTo(RequestFingerprinter.fingerprint(new MockHttpServletRequest("PUT", "/a"), body));
	}

	@Test
	void tellsACanonicalTextFromTheSameRawBytes() {
		assertThat(ofBody("application/json", "{}")).isNotEqualTo(ofBody("text/plain", "{}"));
	}

	/**
	 * A change of the digest's input needs a new {@link Fingerprint#CURRENT_VERSION}, or
	 * a rolling upgrade answers honest retries with 422.
	 */
	@Test
	void keepsTheFormatOfVersion1() {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/api/orders");
		request.setQueryString("b=2&a=1");
		request.setContentType("application/json");
		assertThat(RequestFingerprinter.fingerprint(request, bytes("{\"item\":\"coupon\",\"amount\":1.50}")))
			.isEqualTo(new Fingerprint(1, "f457d949971eb40ef6aaaf4b636f98429a5fdcc1d037b277c6b94488ea5659b0"));
	}

	private static Fingerprint ofUrl(String url) {
		int query = url.indexOf('?');
		MockHttpServletRequest request = new MockHttpServletRequest("POST",
				(query < 0) ? url : url.substring(0, query));
		request.setQueryString((query < 0) ? null : url.substring(query + 1));
		return RequestFingerprinter.fingerprint(request, new byte[0]);
	}

	private static Fingerprint ofBody(String contentType, String body) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/a");
		request.setContentType(contentType);
		return RequestFingerprinter.fingerprint(request, bytes(body));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
