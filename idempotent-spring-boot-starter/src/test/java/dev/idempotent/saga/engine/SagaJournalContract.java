package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StatusChange;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import dev.idempotent.saga.engine.SagaStore.StoredStep;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.saga.engine.SagaSamples.ARGUMENTS;
import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static dev.idempotent.saga.engine.SagaSamples.RESULT;
import static dev.idempotent.saga.engine.SagaSamples.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a {@link SagaStore} promises to the owner of a saga that commits each operation.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class SagaJournalContract {

	static final Duration SECOND = Duration.ofSeconds(1);

	protected final NewSaga saga = SagaSamples.saga("checkout", SagaStatus.EXECUTING);

	protected final SagaOwner owner = this.saga.owner();

	protected SagaStore store;

	/**
	 * A store of the same sagas that waits this long for locks.
	 */
	protected abstract SagaStore store(Duration lockTimeout);

	protected abstract SagaAdministration administration();

	/**
	 * Transactions on the database of the store.
	 */
	protected abstract TransactionTemplate transactions();

	/**
	 * Lets time pass for all sagas.
	 */
	protected abstract void pass(Duration time);

	/**
	 * Deletes ended sagas whose retention has ended.
	 * @return how many
	 */
	protected abstract int sweep();

	/**
	 * Deletes all sagas.
	 */
	protected abstract void clear();

	@BeforeEach
	void begin() {
		clear();
		this.store = store(Duration.ofMinutes(1));
	}

	@Test
	void findsASagaAsItWasInserted() {
		assertThat(this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)))).isTrue();
		StoredSaga found = find();
		assertThat(found.owner()).isEqualTo(this.owner);
		assertThat(found.name()).isEqualTo("checkout");
		assertThat(found.status()).isEqualTo(SagaStatus.EXECUTING);
		assertThat(found.steps()).isEqualTo(1);
		assertThat(found.attempts()).isZero();
		assertThat(found.fingerprint()).isEqualTo(this.saga.fingerprint());
		assertThat(found.arguments()).isEqualTo(ARGUMENTS);
		assertThat(found.result()).isNull();
		assertThat(found.reason()).isNull();
		assertThat(found.due()).isBetween(LEASE.minusSeconds(30), LEASE);
		assertThat(found.age()).isBetween(Duration.ZERO, LEASE);
		assertThat(Duration.between(found.createdAt(), found.deadline())).isBetween(TIMEOUT, TIMEOUT.plus(SECOND));
		StoredStep step = found.journal().get(0);
		assertThat(step.entry()).isEqualTo(SagaSamples.acting("hold", 1));
		assertThat(step.compensatingFor()).isZero();
		assertThat(step.note()).isNull();
	}

	@Test
	void findsNoSagaThatWasNotInserted() {
		assertThat(this.store.find(Samples.key())).isNull();
	}

	@Test
	void insertsAnIdOnce() {
		assertThat(this.store.insert(this.saga, List.of())).isTrue();
		assertThat(this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)))).isFalse();
		assertThat(find().journal()).isEmpty();
		assertThat(find().steps()).isZero();
	}

	@Test
	void leasesASagaAtMostUntilItsDeadline() {
		this.store.insert(SagaSamples.sagaOf(this.saga, TIMEOUT.multipliedBy(2), TIMEOUT), List.of());
		assertThat(find().due()).isBetween(LEASE, TIMEOUT);
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(), TIMEOUT.multipliedBy(2))).isTrue();
		assertThat(find().due()).isBetween(LEASE, TIMEOUT);
		assertThat(this.store.release(this.owner, List.of(), TIMEOUT.multipliedBy(2))).isTrue();
		assertThat(find().due()).isBetween(LEASE, TIMEOUT);
		this.store.change(this.owner, compensate("late"), List.of());
		this.store.write(this.owner, SagaStatus.COMPENSATING, 1, List.of(), TIMEOUT.multipliedBy(2));
		assertThat(find().due()).isGreaterThan(TIMEOUT);
	}

	@Test
	void writesOutcomesAndNewStepsInTheOrderOfTheirNumbers() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 2,
				List.of(SagaSamples.acting("charge", 2), SagaSamples.done("hold", 1)), LEASE))
			.isTrue();
		JournalEntry refused = SagaSamples.acting("charge", 2).refused("The card was declined");
		this.store.write(this.owner, SagaStatus.EXECUTING, 3, List.of(refused), LEASE);
		assertThat(find().steps()).isEqualTo(3);
		assertThat(find().journal()).extracting(StoredStep::entry)
			.usingRecursiveFieldByFieldElementComparator()
			.containsExactly(SagaSamples.done("hold", 1), refused);
		assertThat(find().toSnapshot().steps()).extracting("reason").containsExactly(null, "The card was declined");
	}

	@Test
	void readsTheAgesOfAStepAndOfItsUndo() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		pass(LEASE);
		this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(SagaSamples.acting("hold", 1)), LEASE);
		JournalEntry undone = SagaSamples.done("hold", 1).in(StepState.COMPENSATING);
		this.store.change(this.owner, compensate("late"), List.of());
		this.store.write(this.owner, SagaStatus.COMPENSATING, 2, List.of(undone), LEASE);
		pass(LEASE);
		this.store.write(this.owner, SagaStatus.COMPENSATING, 3, List.of(undone), LEASE);
		StoredStep step = find().journal().get(0);
		assertThat(step.age()).isBetween(LEASE.multipliedBy(2), LEASE.multipliedBy(3));
		assertThat(step.compensatingFor()).isBetween(LEASE, LEASE.multipliedBy(2));
		assertThat(step.entry().result()).isEqualTo(RESULT);
	}

	@Test
	void refusesAnotherEpochAndAnotherStatus() {
		this.store.insert(this.saga, List.of());
		SagaOwner late = new SagaOwner(this.saga.id(), 2);
		List<JournalEntry> entries = List.of(SagaSamples.acting("hold", 1));
		assertThat(this.store.write(late, SagaStatus.EXECUTING, 1, entries, LEASE)).isFalse();
		assertThat(this.store.write(this.owner, SagaStatus.COMPENSATING, 1, entries, LEASE)).isFalse();
		assertThat(this.store.change(late, complete(), entries)).isFalse();
		assertThat(this.store.change(this.owner,
				new StatusChange(SagaStatus.COMPENSATING, SagaStatus.COMPENSATED, null, null, LEASE), entries))
			.isFalse();
		assertThat(this.store.release(late, entries, LEASE)).isFalse();
		assertThat(find().journal()).isEmpty();
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
	}

	@Test
	void refusesAWriteThatWasDelayedPastALaterOne() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.write(this.owner, SagaStatus.EXECUTING, 2, List.of(SagaSamples.done("hold", 1)), LEASE);
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(SagaSamples.acting("hold", 1)), LEASE))
			.isFalse();
		assertThat(find().journal()).extracting((step) -> step.entry().state()).containsExactly(StepState.DONE);
	}

	@Test
	void writesForwardBeforeTheDeadlineOnly() {
		this.store.insert(this.saga, List.of());
		pass(TIMEOUT);
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(), LEASE)).isFalse();
		assertThat(this.store.change(this.owner, complete(), List.of())).isFalse();
		assertThat(this.store.change(this.owner, compensate("late"), List.of())).isTrue();
		assertThat(this.store.write(this.owner, SagaStatus.COMPENSATING, 1, List.of(), LEASE)).isTrue();
	}

	@Test
	void removesPayloadsAtTheEnd() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.write(this.owner, SagaStatus.EXECUTING, 2,
				List.of(SagaSamples.done("hold", 1), SagaSamples.acting("charge", 2)), LEASE);
		assertThat(this.store.change(this.owner, complete(), List.of(SagaSamples.done("charge", 2)))).isTrue();
		StoredSaga ended = find();
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(ended.result()).isEqualTo(RESULT);
		assertThat(ended.arguments()).isNull();
		assertThat(ended.due()).isBetween(Duration.ofMinutes(50), Duration.ofHours(1));
		assertThat(ended.journal()).extracting((step) -> step.entry().result()).containsOnlyNulls().hasSize(2);
		assertThat(ended.journal()).extracting((step) -> step.entry().state()).containsOnly(StepState.DONE);
	}

	@Test
	void keepsTheReasonOfTheUndoing() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.change(this.owner, compensate("declined"), List.of());
		StatusChange end = new StatusChange(SagaStatus.COMPENSATING, SagaStatus.COMPENSATED, null, null, LEASE);
		assertThat(this.store.change(this.owner, end, List.of())).isTrue();
		assertThat(find().reason()).isEqualTo("declined");
		assertThat(find().status()).isEqualTo(SagaStatus.COMPENSATED);
	}

	@Test
	void cutsReasonsBetweenCharacters() {
		this.store.insert(this.saga, List.of());
		String reason = "x".repeat(999) + "\uD83D\uDE00 and more";
		JournalEntry refused = SagaSamples.acting("hold", 1).refused(reason + "\u0000");
		assertThat(this.store.change(this.owner, compensate(reason), List.of(refused))).isTrue();
		assertThat(find().reason()).isEqualTo("x".repeat(999));
		assertThat(find().journal().get(0).entry().reason()).isEqualTo("x".repeat(999));
	}

	@Test
	void storesReasonsThatDatabasesReject() {
		this.store.insert(this.saga, List.of());
		assertThat(this.store.change(this.owner, compensate("null \u0000 and half \uD83D."), List.of())).isTrue();
		assertThat(find().reason()).isEqualTo("null \uFFFD and half \uFFFD.");
	}

	@Test
	void repeatsEachOperationAfterALostReply() {
		List<JournalEntry> entries = List.of(SagaSamples.done("hold", 1));
		this.store.insert(SagaSamples.sagaOf(this.saga, TIMEOUT, TIMEOUT), entries);
		for (int i = 0; i < 2; i++) {
			assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 1, entries, TIMEOUT)).isTrue();
		}
		for (int i = 0; i < 2; i++) {
			assertThat(this.store.release(this.owner, entries, TIMEOUT)).isTrue();
		}
		for (int i = 0; i < 2; i++) {
			assertThat(this.store.change(this.owner, compensate("declined"), entries)).isTrue();
		}
		StatusChange end = new StatusChange(SagaStatus.COMPENSATING, SagaStatus.COMPENSATED, null, null, LEASE);
		for (int i = 0; i < 2; i++) {
			assertThat(this.store.change(this.owner, end, entries)).isTrue();
		}
		assertThat(find().journal().get(0).entry().result()).isNull();
		assertThat(this.store.change(this.owner, compensate("declined"), entries)).isFalse();
	}

	@Test
	void halts() {
		this.store.insert(this.saga, List.of());
		StatusChange halt = new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "unreadable", LEASE);
		for (int i = 0; i < 2; i++) {
			assertThat(this.store.change(this.owner, halt, List.of())).isTrue();
		}
		StoredSaga halted = find();
		assertThat(halted.status()).isEqualTo(SagaStatus.HALTED);
		assertThat(halted.reason()).isEqualTo("unreadable");
		assertThat(halted.due()).isLessThanOrEqualTo(Duration.ZERO);
		assertThat(halted.arguments()).isEqualTo(ARGUMENTS);
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(), LEASE)).isFalse();
		assertThat(this.store.release(this.owner, List.of(), LEASE)).isFalse();
	}

	protected StoredSaga find() {
		return Objects.requireNonNull(this.store.find(this.saga.id()));
	}

	static StatusChange complete() {
		return new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, RESULT, null, Duration.ofHours(1));
	}

	static StatusChange compensate(String reason) {
		return new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPENSATING, null, reason, LEASE);
	}

}
