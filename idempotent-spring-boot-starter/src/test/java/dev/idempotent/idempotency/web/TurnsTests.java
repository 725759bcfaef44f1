package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.testing.Gate;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ConcurrencyLimit}.
 */
class TurnsTests {

	private final Gate closed = new Gate();

	@Test
	void refusesWhoeverGetsNoneInTime() throws Exception {
		ConcurrencyLimit turns = new ConcurrencyLimit(1, Duration.ofMillis(10));
		CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> turns.take(this::passTheGate));
		this.closed.awaitEntry();
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> turns.take(() -> "second"))
			.satisfies((ex) -> assertThat(ex.problem()).isEqualTo(Problem.OVERLOADED));
		this.closed.open();
		assertThat(first.get()).isEqualTo("through");
		assertThat(turns.take(() -> "third")).isEqualTo("third");
	}

	@Test
	void refusesAThreadThatIsInterruptedAndLeavesItSo() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(RefusedRequestException.class)
			.isThrownBy(() -> new ConcurrencyLimit(1, Duration.ofDays(1)).take(() -> ""));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void areFreeAgainAfterAFailure() {
		ConcurrencyLimit turns = new ConcurrencyLimit(1, Duration.ofMillis(10));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> turns.take(() -> {
			throw new IllegalStateException();
		}));
		assertThat(turns.take(() -> "next")).isEqualTo("next");
	}

	@Test
	void areAnsweredWithTheTimeToComeAgainIfThereAreNone() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		new AnswerWriter(new MockHttpServletRequest(), response, null)
			.refused(new RefusedRequestException(Problem.OVERLOADED, "Later."));
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getHeader("Retry-After")).isEqualTo("1");
		assertThat(response.getContentAsString()).contains("urn:problem-type:idempotency:overloaded", "Later.");
	}

	private String passTheGate() {
		try {
			this.closed.pass();
			return "through";
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
