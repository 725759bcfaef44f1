package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.StepKind;

/**
 * Sagas and entries for the contract of their store.
 */
public final class SagaSamples {

	public static final Duration LEASE = Duration.ofMinutes(1);

	public static final Duration TIMEOUT = Duration.ofMinutes(10);

	public static final Duration RETENTION = Duration.ofHours(1);

	public static final byte[] RESULT = bytes("{\"id\":7}");

	private static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

	public static final byte[] ARGUMENTS = bytes("[\"order\"]");

	private SagaSamples() {
	}

	public static NewSaga saga(String name, SagaStatus status) {
		return new NewSaga(new SagaOwner(Samples.key(), 1), name, status, "first", Samples.fingerprint("order"),
				ARGUMENTS, TRACEPARENT, LEASE, TIMEOUT);
	}

	public static NewSaga sagaOf(NewSaga other, Duration lease, Duration timeout) {
		return new NewSaga(other.owner(), other.name(), other.status(), other.process(), other.fingerprint(),
				other.arguments(), other.traceparent(), lease, timeout);
	}

	public static JournalEntry acting(String name, int number) {
		return new JournalEntry(name, number, StepKind.COMPENSATED_CALL, StepState.ACTING, null, null, 0, null);
	}

	public static JournalEntry done(String name, int number) {
		return acting(name, number).done(RESULT);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
