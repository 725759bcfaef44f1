package dev.idempotent.saga.run;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;

/**
 * Sagas and entries for the contract of their store.
 */
final class SagaSamples {

	static final Duration LEASE = Duration.ofMinutes(1);

	static final Duration TIMEOUT = Duration.ofMinutes(10);

	static final byte[] RESULT = bytes("{\"id\":7}");

	static final byte[] ARGUMENTS = bytes("[\"order\"]");

	private SagaSamples() {
	}

	static NewSaga saga(String name, SagaStatus status) {
		return new NewSaga(Samples.key(), name, status, "first", Samples.fingerprint("order"), ARGUMENTS, LEASE,
				TIMEOUT);
	}

	static NewSaga sagaOf(NewSaga other, Duration lease, Duration timeout) {
		return new NewSaga(other.id(), other.name(), other.status(), other.process(), other.fingerprint(),
				other.arguments(), lease, timeout);
	}

	static JournalEntry acting(String name, int number) {
		return new JournalEntry(name, number, StepKind.COMPENSATED_CALL, StepState.ACTING, null, null);
	}

	static JournalEntry done(String name, int number) {
		return acting(name, number).done(RESULT);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
