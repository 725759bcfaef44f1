package dev.idempotent.idempotency.web;

import dev.idempotent.idempotency.web.CapturedResponse.Header;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

class ResponseStartTests {

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@Test
	void leavesOutHeadersThatAreStillAsTheyWere() {
		this.response.addHeader("X-Request-Id", "1");
		this.response.addHeader("Vary", "Origin");
		ResponseStart start = ResponseStart.of(this.response);
		this.response.addHeader("X-Order", "7");
		assertThat(kept(start)).containsExactly(new Header("X-Order", "7"));
	}

	@Test
	void keepsHeadersThatTheHandlerHasChanged() {
		this.response.addHeader("Vary", "Origin");
		ResponseStart start = ResponseStart.of(this.response);
		this.response.addHeader("Vary", "Accept");
		assertThat(kept(start)).containsExactly(new Header("Vary", "Origin"), new Header("Vary", "Accept"));
	}

	@Test
	void keepsTheTypeOfTheContent() {
		this.response.setContentType("application/json");
		ResponseStart start = ResponseStart.of(this.response);
		assertThat(kept(start)).containsExactly(new Header("Content-Type", "application/json"));
	}

	private Iterable<Header> kept(ResponseStart start) {
		return start.removeFrom(CapturedResponse.of(this.response, new byte[0], null, null)).headers();
	}

}
