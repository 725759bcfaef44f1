package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

import dev.idempotent.idempotency.StoredResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

class CapturedResponseTests {

	private static final byte[] BODY = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);

	@Test
	void replaysStatusHeadersAndBody() throws Exception {
		MockHttpServletResponse first = new MockHttpServletResponse();
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
		MockHttpServletResponse first = new MockHttpServletResponse();
		first.addHeader(name, "a=b");
		assertThat(replay(first, BODY).containsHeader(name)).isFalse();
	}

	@Test
	void leavesHeadersThatAreThereAlready() throws Exception {
		MockHttpServletResponse first = new MockHttpServletResponse();
		first.addHeader("X-Trace", "first");
		MockHttpServletResponse replay = new MockHttpServletResponse();
		replay.addHeader("x-trace", "second");

		decoded(CapturedResponse.of(first, BODY, null, null).encode()).replayTo(replay);

		assertThat(replay.getHeaders("X-Trace")).containsExactly("second");
	}

	@Test
	void saysNothingOfTheLengthOfAnEmptyBody() throws Exception {
		MockHttpServletResponse first = new MockHttpServletResponse();
		first.setStatus(204);
		assertThat(replay(first, new byte[0]).containsHeader("Content-Length")).isFalse();
	}

	@Test
	void decodesNothingFromWhatWasNotKeptOrComesFromALaterVersion() {
		byte[] later = CapturedResponse.of(new MockHttpServletResponse(), BODY, null, null).encode().bytes();
		later[0] = 4;
		assertThat(CapturedResponse.decode(StoredResponse.of(later))).isNull();
		assertThat(CapturedResponse.decode(StoredResponse.notKept())).isNull();
	}

	private static MockHttpServletResponse replay(MockHttpServletResponse first, byte[] body) throws Exception {
		MockHttpServletResponse replay = new MockHttpServletResponse();
		decoded(CapturedResponse.of(first, body, null, null).encode()).replayTo(replay);
		return replay;
	}

	private static CapturedResponse decoded(StoredResponse stored) {
		return Objects.requireNonNull(CapturedResponse.decode(stored));
	}

}
