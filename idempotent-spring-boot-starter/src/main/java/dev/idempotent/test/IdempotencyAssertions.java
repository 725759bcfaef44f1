package dev.idempotent.test;

import java.io.UnsupportedEncodingException;
import java.util.UUID;

import org.assertj.core.api.AssertProvider;
import org.assertj.core.api.Assertions;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockServletContext;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.test.web.servlet.assertj.MvcTestResultAssert;
import org.springframework.test.web.servlet.request.AbstractMockHttpServletRequestBuilder;

/**
 * Assertions on handlers with {@code @Idempotent}, for Spring's {@code MockMvcTester}.
 */
public final class IdempotencyAssertions {

	private static final String KEY = "Idempotency-Key";

	private static final String REPLAYED = "Idempotent-Replayed";

	private IdempotencyAssertions() {
	}

	/**
	 * Sends a request twice with one key, and verifies that it runs once and is then
	 * replayed: with the same status, content type and body.
	 * @param <R> the builder of {@code MockMvcTester}
	 * @param request the request; a new {@code Idempotency-Key} is added unless it has
	 * one
	 * @return the response of the run, for {@code assertThat}
	 */
	public static <R extends AbstractMockHttpServletRequestBuilder<R> & AssertProvider<MvcTestResultAssert>> MvcTestResult replays(
			R request) {
		if (request.buildRequest(new MockServletContext()).getHeader(KEY) == null) {
			request.header(KEY, UUID.randomUUID().toString());
		}
		MvcTestResult run = send(request);
		if (isReplay(run)) {
			Assertions.fail("Expected %s to run, but its first response is a replay: the key has been used before, "
					+ "so send another one", describe(run));
		}
		MvcTestResult replay = send(request);
		if (!isReplay(replay)) {
			Assertions.fail("Expected the second response to be a replay of the first, but it has no header "
					+ "Idempotent-Replayed: the handler is not @Idempotent, responses with this status are not stored, "
					+ "or a filter such as Spring Security's has refused the request.%nFirst:  %s%nSecond: %s",
					describe(run), describe(replay));
		}
		Assertions.assertThat(new Response(replay)).as("replay of %s", describe(run)).isEqualTo(new Response(run));
		return run;
	}

	private static MvcTestResult send(AssertProvider<MvcTestResultAssert> request) {
		MvcTestResult result = request.assertThat().actual();
		Exception failure = result.getUnresolvedException();
		if (failure != null) {
			Assertions.fail("The request failed with an exception that no @ExceptionHandler handles: " + failure,
					failure);
		}
		return result;
	}

	private static boolean isReplay(MvcTestResult result) {
		return result.getResponse().containsHeader(REPLAYED);
	}

	private static String describe(MvcTestResult result) {
		return "%s %s -> %s".formatted(result.getRequest().getMethod(), result.getRequest().getRequestURI(),
				new Response(result));
	}

	/**
	 * What has to be equal in a replay.
	 */
	private record Response(int status, String contentType, String body) {

		Response(MvcTestResult result) {
			this(result.getResponse());
		}

		private Response(MockHttpServletResponse response) {
			this(response.getStatus(), String.valueOf(response.getContentType()), body(response));
		}

		private static String body(MockHttpServletResponse response) {
			try {
				return response.getContentAsString();
			}
			catch (UnsupportedEncodingException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public String toString() {
			return "%d %s %s".formatted(this.status, this.contentType, this.body);
		}

	}

}
