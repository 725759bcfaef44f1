package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.CommitOn;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.idempotency.web.RequestIdentifier.Identity;
import dev.idempotent.testing.Gate;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RequestIdentifier}.
 */
@SuppressWarnings("NullAway") // The function may return null, as its type says.
class RequestIdentifierTests {

	private static final IdempotencyWebSettings SETTINGS = new IdempotencyWebSettings("test", "Idempotency-Key",
			List.of(), 1, 1, 1, List.of("200"), CommitOn.RETURN, List.of(), List.of(), List.of(), OnError.RELEASE,
			Duration.ZERO, "urn:problem-type:idempotency:", null);

	private final Gate gate = new Gate();

	@Test
	void refusesALargeRequestThatGetsNoPermitInTime() throws Exception {
		RequestIdentifier identifier = identifier(Duration.ofMillis(10), (request) -> passTheGate());
		CompletableFuture<Identity> first = CompletableFuture.supplyAsync(() -> identify(identifier, 20_000));
		this.gate.awaitEntry();
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> identify(identifier, 20_000))
			.satisfies((ex) -> assertThat(ex.problem()).isEqualTo(Problem.OVERLOADED));
		this.gate.open();
		Identity identity = first.get();
		assertThat(identify(identifier, 20_000)).isEqualTo(identity);
	}

	@Test
	void limitsNoSmallRequests() {
		assertThat(
				new RequestIdentifier(SETTINGS, (request) -> "", tokens(), (request) -> null, 0, Duration.ofMillis(1)))
			.satisfies((identifier) -> assertThat(identify(identifier, 200).expired()).isFalse());
	}

	@Test
	void refusesAnInterruptedThreadAndKeepsItsInterrupt() {
		RequestIdentifier identifier = identifier(Duration.ofDays(1), (request) -> "");
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> identify(identifier, 20_000));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void releasesThePermitAfterAFailure() {
		IdempotencyScopeResolver failsOnce = new IdempotencyScopeResolver() {

			private boolean failed;

			@Override
			public String resolveScope(HttpServletRequest request) {
				if (!this.failed) {
					this.failed = true;
					throw new IllegalStateException();
				}
				return "";
			}

		};
		RequestIdentifier identifier = identifier(Duration.ofMillis(10), failsOnce);
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> identify(identifier, 20_000));
		assertThat(identify(identifier, 20_000)).isNotNull();
	}

	@Test
	void answersARefusalWithRetryAfter() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		new ResponseWriter(new MockHttpServletRequest(), response,
				new ProblemTypes("urn:problem-type:idempotency:", null))
			.refuse(Problem.OVERLOADED.refusal("Later."));
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getHeader("Retry-After")).isEqualTo("1");
		assertThat(response.getContentAsString()).contains("urn:problem-type:idempotency:overloaded", "Later.");
	}

	private static RequestIdentifier identifier(Duration timeout, IdempotencyScopeResolver scopeResolver) {
		return new RequestIdentifier(SETTINGS, scopeResolver, tokens(), (request) -> null, 1, timeout);
	}

	private static RequestTokens tokens() {
		return new RequestTokens(() -> {
			throw new AssertionError("No token was sent");
		}, () -> null);
	}

	private static Identity identify(RequestIdentifier identifier, int length) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/orders");
		request.addHeader("Idempotency-Key", "k-1");
		request.setContent(new byte[length]);
		IdempotentOperation operation = IdempotentOperation
			.ofRule(OperationSettings.defaults(Guarantee.LEASE, Duration.ofSeconds(1), Duration.ofDays(1)), null, null);
		try {
			return identifier.identify(operation, null, BufferedRequest.read(request, length));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private String passTheGate() {
		try {
			this.gate.pass();
			return "";
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
