package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.web.CapturedResponse.Header;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

class CapturedResponseTests {

	private static final byte[] BODY = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);

	@Test
	void replaysStatusHeadersAndBody() throws Exception {
		BufferedResponse first = first();
		first.setStatus(201);
		first.setContentType("application/json");
		first.addHeader("Location", "/orders/1");
		first.addHeader("Link", "a");
		first.addHeader("Link", "b");

		MockHttpServletResponse replay = replay(first, BODY);

		assertThat(replay.getStatus()).isEqualTo(201);
		assertThat(replay.getContentType()).isEqualTo("application/json");
		assertThat(replay.getHeader("Location")).isEqualTo("/orders/1");
		assertThat(replay.getHeaders("Link")).containsExactly("a", "b");
		assertThat(replay.getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(replay.getContentLength()).isEqualTo(BODY.length);
		assertThat(replay.getContentAsByteArray()).isEqualTo(BODY);
	}

	@ParameterizedTest
	@ValueSource(strings = { "Connection", "Date", "Keep-Alive", "Set-Cookie", "Transfer-Encoding",
			"Access-Control-Allow-Origin", "ACCESS-CONTROL-EXPOSE-HEADERS" })
	void doesNotKeepHeadersOfTheMomentOrTheConnection(String name) throws Exception {
		BufferedResponse first = first();
		first.addHeader(name, "a=b");
		assertThat(replay(first, BODY).containsHeader(name)).isFalse();
	}

	@Test
	void setsAndAddsHeadersAsTheHandlerDid() throws Exception {
		BufferedResponse first = first();
		first.setHeader("X-Set", "handler");
		first.addHeader("X-Set", "more");
		first.addHeader("X-Added", "handler");
		first.addHeader("X-Added", "filter");
		MockHttpServletResponse replay = new MockHttpServletResponse();
		replay.addHeader("x-set", "filter");
		replay.addHeader("x-added", "filter");

		decoded(captured(first, BODY).encode()).replayTo(replay);

		assertThat(replay.getHeaders("X-Set")).containsExactly("handler", "more");
		assertThat(replay.getHeaders("X-Added")).containsExactly("filter", "handler");
	}

	@Test
	void doesNotStoreHeadersOfOuterFilters() throws Exception {
		MockHttpServletResponse outer = new MockHttpServletResponse();
		outer.addHeader("X-Before", "filter");
		BufferedResponse first = BufferedResponse.withoutStreaming(outer, 100);
		first.addHeader("X-Order", "7");
		outer.addHeader("X-Meanwhile", "filter");
		outer.addHeader("X-Order", "filter");

		assertThat(captured(first, BODY).headers()).containsExactly(new Header("X-Order", "7", false));
	}

	@Test
	void storesNumbersAndDates() throws Exception {
		BufferedResponse first = first();
		first.setIntHeader("X-Count", 7);
		first.setDateHeader("Last-Modified", 0);

		MockHttpServletResponse replay = replay(first, BODY);

		assertThat(replay.getHeader("X-Count")).isEqualTo("7");
		assertThat(replay.getHeader("Last-Modified")).isEqualTo("Thu, 01 Jan 1970 00:00:00 GMT");
	}

	@Test
	void doesNotStoreRemovedHeaders() throws Exception {
		BufferedResponse first = first();
		first.addHeader("X-Order", "7");
		first.setHeader("X-Order", null);
		first.addHeader("X-Other", "7");
		first.reset();

		assertThat(captured(first, BODY).headers()).isEmpty();
	}

	@Test
	void setsNoContentLengthForAnEmptyBody() throws Exception {
		BufferedResponse first = first();
		first.setStatus(204);
		assertThat(replay(first, new byte[0]).containsHeader("Content-Length")).isFalse();
	}

	@Test
	void decodesNeitherAMissingResponseNorALaterFormat() throws Exception {
		byte[] later = captured(first(), BODY).encode().bytes();
		later[0] = 4;
		assertThat(CapturedResponse.decode(StoredResponse.of(later))).isNull();
		assertThat(CapturedResponse.decode(StoredResponse.notKept())).isNull();
	}

	private static BufferedResponse first() {
		return BufferedResponse.withoutStreaming(new MockHttpServletResponse(), 100);
	}

	private static CapturedResponse captured(BufferedResponse first, byte[] body) throws Exception {
		first.getOutputStream().write(body);
		return first.capture();
	}

	private static MockHttpServletResponse replay(BufferedResponse first, byte[] body) throws Exception {
		MockHttpServletResponse replay = new MockHttpServletResponse();
		decoded(captured(first, body).encode()).replayTo(replay);
		return replay;
	}

	private static CapturedResponse decoded(StoredResponse stored) {
		return Objects.requireNonNull(CapturedResponse.decode(stored));
	}

}
