package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.testing.Gate;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ConcurrencyLimit}.
 */
class ConcurrencyLimitTests {

	private final Gate gate = new Gate();

	@Test
	void refusesAThreadThatGetsNoPermitInTime() throws Exception {
		ConcurrencyLimit limit = new ConcurrencyLimit(1, Duration.ofMillis(10));
		CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> limit.run(this::passTheGate));
		this.gate.awaitEntry();
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> limit.run(() -> "second"))
			.satisfies((ex) -> assertThat(ex.problem()).isEqualTo(Problem.OVERLOADED));
		this.gate.open();
		assertThat(first.get()).isEqualTo("through");
		assertThat(limit.run(() -> "third")).isEqualTo("third");
	}

	@Test
	void refusesAnInterruptedThreadAndKeepsItsInterrupt() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(RefusedRequestException.class)
			.isThrownBy(() -> new ConcurrencyLimit(1, Duration.ofDays(1)).run(() -> ""));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void releasesThePermitAfterAFailure() {
		ConcurrencyLimit limit = new ConcurrencyLimit(1, Duration.ofMillis(10));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> limit.run(() -> {
			throw new IllegalStateException();
		}));
		assertThat(limit.run(() -> "next")).isEqualTo("next");
	}

	@Test
	void answersARefusalWithRetryAfter() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		new ResponseWriter(new MockHttpServletRequest(), response, null,
				new ProblemTypes("urn:problem-type:idempotency:"))
			.refuse(Problem.OVERLOADED.refusal("Later."));
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getHeader("Retry-After")).isEqualTo("1");
		assertThat(response.getContentAsString()).contains("urn:problem-type:idempotency:overloaded", "Later.");
	}

	private String passTheGate() {
		try {
			this.gate.pass();
			return "through";
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
