package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import dev.idempotent.idempotency.Fingerprint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockPart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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
			/%61;v=1         | /a;v=1
			/a;jsessionid=1  | /a
			/a;v=1;jsessionid=1;w | /a;v=1;w
			/a;jsessionid=1/b;jsessionid=2 | /a/b
			""")
	void isEqualForSpellingsOfOneUrl(String one, String other) throws IOException {
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
			/a;v=1           | /a%3Bv=1
			/a;v=1           | /a;v%3D1
			/a;v=1;w=2       | /a;v=1%3Bw=2
			/a;v=1,2         | /a;v=1%2C2
			/a;v=1           | /a;v=2
			/a;v=1           | /a/v=1
			/a;v=1           | /a%253Bv=1
			/a%3Bv=1         | /a%253Bv=1
			/a?X=1           | /a?x=1
			/a?x=1&y=2,z=3   | /a?x=1,y=2&z=3
			/a;JSESSIONID=1  | /a
			/a;jsessionids=1 | /a
			/a;              | /a
			/a?jsessionid=1  | /a
			""")
	void differsForDifferentUrls(String one, String other) throws IOException {
		assertThat(ofUrl(one)).isNotEqualTo(ofUrl(other));
	}

	@Test
	void ignoresTheSessionThatHasTheNameOfTheCookie() throws IOException {
		MockHttpServletRequest one = url("/a;sid=1");
		Objects.requireNonNull(one.getServletContext()).getSessionCookieConfig().setName("sid");
		assertThat(of(one)).isEqualTo(ofUrl("/a")).isNotEqualTo(ofUrl("/a;sid=1"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
			application/json                | {"a":1,"b":[2]}  | { "b": [2.0], "a": 10e-1 }
			application/json;charset=UTF-8  | {"a":"\\u0041"}  | {"a":"A"}
			application/merge-patch+json    | {"a":1,"b":2}    | {"b":2,"a":1}
			APPLICATION/JSON                | {"a":1,"b":2}    | {"b":2,"a":1}
			""")
	void comparesJsonByMeaning(String contentType, String one, String other) throws IOException {
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
	void comparesOtherBodiesByTheirBytes(String contentType, String one, String other) throws IOException {
		assertThat(ofBody(contentType, one)).isNotEqualTo(ofBody(contentType, other));
		assertThat(ofBody(contentType, one)).isEqualTo(ofBody(contentType, one));
	}

	@Test
	void differsForOtherMethods() throws IOException {
		assertThat(of(new MockHttpServletRequest("POST", "/a")))
			.isNotEqualTo(of(new MockHttpServletRequest("PUT", "/a")));
	}

	@Test
	void distinguishesCanonicalJsonFromTheSameRawBytes() throws IOException {
		assertThat(ofBody("application/json", "{}")).isNotEqualTo(ofBody("text/plain", "{}"));
	}

	@Test
	void comparesFormsByTheirFields() throws IOException {
		assertThat(ofForm("a", "1", "b", "2")).isEqualTo(ofForm("b", "2", "a", "1"));
		assertThat(ofForm("a", "1", "a", "2")).isNotEqualTo(ofForm("a", "2", "a", "1"));
		assertThat(ofForm("a", "1")).isNotEqualTo(ofForm("a", "2"));
	}

	@Test
	void comparesMultipartBodiesByTheirPartsAndNotTheirBoundary() throws IOException {
		assertThat(ofMultipart("x", "receipt.png", "one")).isEqualTo(ofMultipart("y", "receipt.png", "one"));
		assertThat(ofMultipart("x", "receipt.png", "one")).isNotEqualTo(ofMultipart("x", "receipt.png", "two"));
		assertThat(ofMultipart("x", "receipt.png", "one")).isNotEqualTo(ofMultipart("x", "other.png", "one"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
			/at           | {"id":1,"at":"10:00"}           | {"at":"10:01","id":1}            | true
			/at           | {"id":1,"at":"10:00"}           | {"id":1}                         | true
			/at           | {"id":1,"at":{"a":[1,{}]}}      | {"id":1,"at":[]}                 | true
			/at           | {"id":1,"at":"10:00"}           | {"id":2,"at":"10:00"}            | false
			/at           | {"x":{"at":"10:00"}}            | {"x":{"at":"10:01"}}             | false
			/x/at         | {"x":{"at":"10:00"}}            | {"x":{"at":"10:01"}}             | true
			/lines/1/at   | {"lines":[{"at":1},{"at":2}]}   | {"lines":[{"at":1},{"at":3}]}    | true
			/lines/1/at   | {"lines":[{"at":1},{"at":2}]}   | {"lines":[{"at":2},{"at":2}]}    | false
			/a~1b         | {"a/b":1}                       | {"a/b":2}                        | true
			""")
	void excludesIgnoredMembersOfTheBody(String pointer, String one, String other, boolean same) throws IOException {
		RequestFingerprinter ignored = RequestFingerprinter.of(null, pointer);
		assertThat(of(body("application/json", one), ignored).equals(of(body("application/json", other), ignored)))
			.isEqualTo(same);
	}

	@Test
	void isTheSameForAllRequestsIfEverythingIsIgnored() throws IOException {
		RequestFingerprinter everything = RequestFingerprinter.of(null, "*");
		assertThat(of(url("/a?x=1"), everything)).isEqualTo(of(url("/b?x=2"), everything))
			.isEqualTo(of(body("application/json", "{\"a\":1}"), everything))
			.isEqualTo(of(body("text/plain", "a"), everything));
		assertThatIllegalArgumentException().isThrownBy(() -> RequestFingerprinter.of(null, "*", "x"))
			.withMessageContaining("only entry");
	}

	@Test
	void excludesIgnoredParameters() throws IOException {
		RequestFingerprinter ignored = RequestFingerprinter.of(null, "at");
		assertThat(of(url("/a?x=1&at=1"), ignored)).isEqualTo(of(url("/a?at=2&x=1&at=3"), ignored));
		assertThat(of(url("/a?x=1&at=1"), ignored)).isNotEqualTo(of(url("/a?x=2&at=1"), ignored));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "/" })
	void rejectsExclusionsWithoutAName(String entry) {
		assertThatIllegalArgumentException().isThrownBy(() -> RequestFingerprinter.of(null, entry));
	}

	/**
	 * A change of the digest's input needs a new {@link Fingerprint#CURRENT_VERSION}, or
	 * a rolling upgrade answers retries with 422.
	 */
	@Test
	void keepsTheFormatOfVersion6() throws IOException {
		MockHttpServletRequest request = body("application/json", "{\"item\":\"coupon\",\"amount\":1.50}");
		request.setRequestURI("/api/orders");
		request.setQueryString("b=2&a=1");
		assertThat(of(request))
			.isEqualTo(new Fingerprint(6, "907d5836b021d71687090e381aaa005f63ab3bc6f7928bd0c89f3e23a9d6a3ba"));
	}

	private static Fingerprint ofUrl(String url) throws IOException {
		return of(url(url));
	}

	private static Fingerprint ofBody(String contentType, String body) throws IOException {
		return of(body(contentType, body));
	}

	private static Fingerprint ofForm(String... fields) throws IOException {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/a");
		request.setContentType("application/x-www-form-urlencoded");
		for (int i = 0; i < fields.length; i += 2) {
			request.addParameter(fields[i], fields[i + 1]);
		}
		return of(request);
	}

	private static Fingerprint ofMultipart(String boundary, String fileName, String content) throws IOException {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/a");
		request.setContentType("multipart/form-data; boundary=" + boundary);
		request.addPart(new MockPart("file", fileName, content.getBytes(StandardCharsets.UTF_8)));
		return of(request);
	}

	private static MockHttpServletRequest url(String url) {
		int query = url.indexOf('?');
		MockHttpServletRequest request = new MockHttpServletRequest("POST",
				(query < 0) ? url : url.substring(0, query));
		request.setQueryString((query < 0) ? null : url.substring(query + 1));
		return request;
	}

	private static MockHttpServletRequest body(String contentType, String body) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/a");
		request.setContentType(contentType);
		request.setContent(body.getBytes(StandardCharsets.UTF_8));
		return request;
	}

	private static Fingerprint of(MockHttpServletRequest request) throws IOException {
		return of(request, RequestFingerprinter.of(null));
	}

	private static Fingerprint of(MockHttpServletRequest request, RequestFingerprinter fingerprinter)
			throws IOException {
		return fingerprinter.fingerprint(BufferedRequest.read(request, 1024), null);
	}

}
