package dev.idempotent.test;

import java.io.UnsupportedEncodingException;
import java.util.UUID;

import org.assertj.core.api.AssertProvider;
import org.assertj.core.api.Assertions;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.test.web.servlet.assertj.MvcTestResultAssert;
import org.springframework.test.web.servlet.request.AbstractMockHttpServletRequestBuilder;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.support.WebApplicationContextUtils;

/**
 * Assertions on handlers with {@code @Idempotent}, for Spring's {@code MockMvcTester}.
 */
public final class IdempotencyAssertions {

	private static final String HEADER = "idempotent.web.header";

	private static final String DEFAULT_HEADER = "Idempotency-Key";

	private static final String REPLAYED = "Idempotent-Replayed";

	private IdempotencyAssertions() {
	}

	/**
	 * Sends a request twice with one key, and verifies that it runs once and is then
	 * replayed: with the same status, content type and body.
	 * @param <R> the builder of {@code MockMvcTester}
	 * @param request the request; a new key is added unless it has one, in the header
	 * {@code idempotent.web.header}
	 * @return the response of the run, for {@code assertThat}
	 */
	public static <R extends AbstractMockHttpServletRequestBuilder<R> & AssertProvider<MvcTestResultAssert>> MvcTestResult replays(
			R request) {
		String key = UUID.randomUUID().toString();
		request.with((sent) -> withKey(sent, key));
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
		Assertions.assertThat(response(replay)).as("replay of %s", describe(run)).isEqualTo(response(run));
		return run;
	}

	private static MockHttpServletRequest withKey(MockHttpServletRequest request, String key) {
		WebApplicationContext application = WebApplicationContextUtils
			.getWebApplicationContext(request.getServletContext());
		String header = (application != null) ? application.getEnvironment().getProperty(HEADER, DEFAULT_HEADER)
				: DEFAULT_HEADER;
		if (request.getHeader(header) == null) {
			request.addHeader(header, key);
		}
		return request;
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
		return "true".equalsIgnoreCase(result.getResponse().getHeader(REPLAYED));
	}

	private static String describe(MvcTestResult result) {
		return "%s %s -> %s".formatted(result.getRequest().getMethod(), result.getRequest().getRequestURI(),
				response(result));
	}

	/**
	 * What has to be equal in a replay.
	 */
	private static String response(MvcTestResult result) {
		MockHttpServletResponse response = result.getResponse();
		try {
			return "%d %s %s".formatted(response.getStatus(), response.getContentType(), response.getContentAsString());
		}
		catch (UnsupportedEncodingException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
