package dev.idempotent.saga.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.engine.SagaAdministration.OperatedStep;
import dev.idempotent.saga.engine.SagaAdministration.Page;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.RecordedCall;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.StatusChange;
import dev.idempotent.saga.store.StepKind;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.saga.store.StoredStep;
import dev.idempotent.testing.ConcurrentRuns;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.saga.engine.SagaSamples.ARGUMENTS;
import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static dev.idempotent.saga.engine.SagaSamples.RESULT;
import static dev.idempotent.saga.engine.SagaSamples.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a store of sagas promises: the journal, the ownership of sagas, steps in the
 * transaction of the caller, and what operators may do.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class AbstractSagaStoreTests extends AbstractSagaSignalTests {

	static final Duration SECOND = Duration.ofSeconds(1);

	static final List<String> SERVED = List.of("checkout", "refund");

	private static final Duration SHORT = Duration.ofMillis(100);

	protected final List<JournalEntry> done = List.of(SagaSamples.done("order", 1));

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
		assertThat(found.traceparent()).isNotNull().isEqualTo(this.saga.traceparent());
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
	void leavesASagaToItsOwnerAfterItsDeadlineAndToAnyoneOnceItIsReleased() {
		Duration longer = TIMEOUT.multipliedBy(2);
		this.store.insert(SagaSamples.sagaOf(this.saga, longer, TIMEOUT), List.of());
		assertThat(find().due()).isGreaterThan(TIMEOUT);
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(), longer)).isTrue();
		assertThat(find().due()).isGreaterThan(TIMEOUT);
		assertThat(this.store.release(this.owner, List.of(), longer)).isTrue();
		assertThat(find().due()).isBetween(LEASE, TIMEOUT);
		this.store.change(this.owner, compensate("late"), List.of());
		assertThat(this.store.release(this.owner, List.of(), longer)).isTrue();
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

	@Test
	void takesOverASagaWhoseLeaseHasEnded() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		assertThat(takeOver()).isNull();
		pass(LEASE);
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.owner()).isEqualTo(new SagaOwner(this.saga.id(), 2));
		assertThat(taken.status()).isEqualTo(SagaStatus.EXECUTING);
		assertThat(taken.attempts()).isEqualTo(1);
		assertThat(taken.arguments()).isEqualTo(this.saga.arguments());
		assertThat(taken.journal()).extracting((step) -> step.entry().name()).containsExactly("hold");
		assertThat(taken.due()).isPositive();
		assertThat(takeOver()).isNull();
	}

	@Test
	void fencesAnOwnerThatHasLostItsSaga() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		pass(LEASE);
		SagaOwner next = Objects.requireNonNull(takeOver()).owner();
		List<JournalEntry> late = List.of(SagaSamples.done("hold", 1));
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 2, late, LEASE)).isFalse();
		assertThat(this.store.change(this.owner, complete(), late)).isFalse();
		assertThat(this.store.release(this.owner, late, Duration.ZERO)).isFalse();
		this.store.renew(List.of(this.owner), TIMEOUT);
		assertThat(find().due()).isLessThanOrEqualTo(LEASE);
		assertThat(this.store.write(next, SagaStatus.EXECUTING, 2, late, LEASE)).isTrue();
	}

	@Test
	void countsAttemptsUntilThereIsProgress() {
		this.store.insert(this.saga, List.of());
		this.store.release(this.owner, List.of(), Duration.ZERO);
		assertThat(Objects.requireNonNull(takeOver()).attempts()).isEqualTo(1);
		this.store.release(new SagaOwner(this.saga.id(), 2), List.of(), Duration.ZERO);
		StoredSaga third = Objects.requireNonNull(takeOver());
		assertThat(third.attempts()).isEqualTo(2);
		this.store.write(third.owner(), SagaStatus.EXECUTING, 1, List.of(), LEASE);
		assertThat(find().attempts()).isZero();
		this.store.release(third.owner(), List.of(), Duration.ZERO);
		StoredSaga fourth = Objects.requireNonNull(takeOver());
		StatusChange undo = new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPENSATING, null, "late", LEASE);
		assertThat(this.store.change(fourth.owner(), undo, List.of())).isTrue();
		assertThat(find().attempts()).isZero();
	}

	@Test
	void countsRunsThatDoNotFitInsteadOfTheirAttempts() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.release(this.owner, List.of(), Duration.ZERO);
		SagaOwner second = Objects.requireNonNull(takeOver()).owner();
		assertThat(this.store.releaseIncompatible(this.owner, Duration.ZERO)).isFalse();
		assertThat(this.store.releaseIncompatible(second, LEASE)).isTrue();
		assertThat(find().attempts()).isZero();
		assertThat(find().incompatibleRuns()).isOne();
		assertThat(takeOver()).isNull();
		pass(LEASE);
		SagaOwner third = Objects.requireNonNull(takeOver()).owner();
		this.store.write(third, SagaStatus.EXECUTING, 1, List.of(), LEASE);
		assertThat(this.store.releaseIncompatible(third, Duration.ZERO)).isTrue();
		assertThat(find().attempts()).isZero();
		assertThat(find().incompatibleRuns()).isEqualTo(2);
		this.store.change(Objects.requireNonNull(takeOver()).owner(),
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "invalid", LEASE), List.of());
		assertThat(administration().retry(this.saga.id())).isTrue();
		assertThat(find().incompatibleRuns()).isZero();
	}

	@Test
	void writesStepsWhoseNamesADatabaseMayCompareAsEqual() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.write(this.owner, SagaStatus.EXECUTING, 3,
				List.of(SagaSamples.done("hold", 1), SagaSamples.acting("hold ", 2), SagaSamples.acting("HOLD", 3)),
				LEASE);
		assertThat(find().journal()).extracting((step) -> step.entry().name()).containsExactly("hold", "hold ", "HOLD");
		assertThat(find().journal()).extracting((step) -> step.entry().state())
			.containsExactly(StepState.DONE, StepState.ACTING, StepState.ACTING);
	}

	@Test
	void takesOverAReleasedSagaAfterItsDelay() {
		this.store.insert(this.saga, List.of());
		assertThat(this.store.release(this.owner, List.of(SagaSamples.done("hold", 1)), LEASE)).isTrue();
		assertThat(takeOver()).isNull();
		this.store.renew(List.of(this.owner), TIMEOUT);
		pass(LEASE);
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.journal().get(0).entry().result()).isEqualTo(RESULT);
	}

	@Test
	void letsAnyProcessRunAStartedSagaAtOnce() {
		NewSaga started = SagaSamples.saga("checkout", SagaStatus.STARTED);
		NewSaga other = SagaSamples.saga("refund", SagaStatus.STARTED);
		this.store.insert(started, List.of());
		this.store.insert(other, List.of());
		StoredSaga taken = Objects.requireNonNull(this.store.takeOver(started.id(), "first", LEASE));
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 10)).extracting((one) -> one.owner().id())
			.containsExactly(other.id());
		assertThat(taken.status()).isEqualTo(SagaStatus.EXECUTING);
		assertThat(taken.owner().epoch()).isEqualTo(2);
		assertThat(this.store.takeOver(started.id(), "first", LEASE)).isNull();
	}

	@Test
	void undoesASagaThatIsTakenOverAfterItsDeadline() {
		NewSaga started = SagaSamples.saga("refund", SagaStatus.STARTED);
		this.store.insert(this.saga, List.of());
		this.store.insert(started, List.of());
		this.store.release(this.owner, List.of(), Duration.ZERO);
		assertThat(takeOver()).isNotNull();
		pass(TIMEOUT);
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 10)).hasSize(2)
			.allSatisfy((taken) -> assertThat(taken.status()).isEqualTo(SagaStatus.COMPENSATING))
			.allSatisfy((taken) -> assertThat(taken.attempts()).isOne())
			.allSatisfy((taken) -> assertThat(taken.due()).isPositive());
	}

	@Test
	void takesOverOnlySagasThatAreOpenAndServed() {
		this.store.insert(this.saga, List.of());
		this.store.change(this.owner, complete(), List.of());
		NewSaga halted = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(halted, List.of());
		this.store.change(halted.owner(),
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "unreadable", LEASE), List.of());
		this.store.insert(SagaSamples.saga("unserved", SagaStatus.EXECUTING), List.of());
		pass(Duration.ofHours(2));
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 10)).isEmpty();
		assertThat(this.store.takeOver(halted.id(), "second", LEASE)).isNull();
		assertThat(takeOver()).isNull();
		assertThat(this.store.takeOverDue(List.of(), "second", LEASE, 10)).isEmpty();
	}

	@Test
	void takesOverTheOldestOfEachStatusBehindUnservedOnes() {
		for (int i = 0; i < 20; i++) {
			this.store.insert(SagaSamples.saga("unserved", SagaStatus.EXECUTING), List.of());
		}
		pass(SECOND);
		this.store.insert(this.saga, List.of());
		this.store.change(this.owner, compensate("declined"), List.of());
		pass(LEASE);
		NewSaga second = SagaSamples.saga("refund", SagaStatus.STARTED);
		this.store.insert(second, List.of());
		NewSaga third = SagaSamples.saga("refund", SagaStatus.EXECUTING);
		this.store.insert(third, List.of());
		pass(LEASE);
		// A started saga is due at once: here, at the same time as the first one.
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 2)).extracting((taken) -> taken.owner().id())
			.containsExactlyInAnyOrder(this.saga.id(), second.id());
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 2)).extracting((taken) -> taken.owner().id())
			.containsExactly(third.id());
	}

	@Test
	void readsTheJournalOfEachSagaThatItTakesOver() {
		List<NewSaga> all = IntStream.range(0, 5)
			.mapToObj((i) -> SagaSamples.saga("checkout", SagaStatus.EXECUTING))
			.toList();
		all.forEach((one) -> this.store.insert(one,
				List.of(SagaSamples.done("hold", 1), SagaSamples.acting(one.id().digest().substring(0, 9), 2))));
		pass(LEASE);
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 10)).hasSize(5)
			.allSatisfy((taken) -> assertThat(taken.journal()).extracting((step) -> step.entry().name())
				.containsExactly("hold", taken.owner().id().digest().substring(0, 9)));
	}

	@Test
	void givesEachDueSagaToOneOfManyProcesses() throws InterruptedException {
		for (int i = 0; i < 30; i++) {
			this.store.insert(SagaSamples.saga("checkout", SagaStatus.EXECUTING), List.of());
		}
		pass(LEASE);
		List<List<StoredSaga>> taken = ConcurrentRuns.of(6,
				(runner) -> this.store.takeOverDue(SERVED, "process " + runner, LEASE, 10));
		List<StoredSaga> rest = this.store.takeOverDue(SERVED, "rest", LEASE, 100);
		assertThat(IntStream.rangeClosed(0, 6)
			.mapToObj((i) -> (i < 6) ? taken.get(i) : rest)
			.flatMap(List::stream)
			.map((one) -> one.owner().id())).hasSize(30).doesNotHaveDuplicates();
		assertThat(taken).allSatisfy((some) -> assertThat(some).hasSizeLessThanOrEqualTo(10)
			.allSatisfy((one) -> assertThat(one.owner().epoch()).isEqualTo(2)));
	}

	@Test
	void letsEitherTheOwnerOrTheOneThatTakesOverWrite() throws InterruptedException {
		for (int i = 0; i < 20; i++) {
			NewSaga contested = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
			this.store.insert(contested, List.of(SagaSamples.acting("hold", 1)));
			pass(LEASE);
			List<Object> ends = ConcurrentRuns.of(2,
					(runner) -> (runner == 0)
							? this.store.write(contested.owner(), SagaStatus.EXECUTING, 2,
									List.of(SagaSamples.done("hold", 1), SagaSamples.acting("charge", 2)), LEASE)
							: this.store.takeOverDue(SERVED, "second", LEASE, 100)
								.stream()
								.filter((taken) -> taken.owner().id().equals(contested.id()))
								.toList());
			boolean written = (boolean) ends.get(0);
			List<?> taken = (List<?>) ends.get(1);
			assertThat(written).isEqualTo(taken.isEmpty());
			taken.forEach((one) -> assertThat(((StoredSaga) one).journal()).hasSize(1));
			this.store.change(new SagaOwner(contested.id(), written ? 1 : 2), complete(), List.of());
		}
	}

	@Test
	void insertsAnIdOnceInARace() throws InterruptedException {
		List<Boolean> inserted = ConcurrentRuns.of(8,
				(runner) -> this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1))));
		assertThat(inserted).containsOnlyOnce(true);
		assertThat(find().journal()).hasSize(1);
	}

	@Test
	void renewsTheLeasesOfLiveSagas() {
		NewSaga undone = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(this.saga, List.of());
		this.store.insert(undone, List.of());
		this.store.change(undone.owner(), compensate("declined"), List.of());
		SagaOwner gone = SagaSamples.saga("checkout", SagaStatus.EXECUTING).owner();
		this.store.renew(List.of(this.owner, gone, undone.owner()), TIMEOUT.multipliedBy(3));
		assertThat(find().due()).isGreaterThan(TIMEOUT.multipliedBy(2));
		assertThat(Objects.requireNonNull(this.store.find(undone.id())).due()).isGreaterThan(TIMEOUT.multipliedBy(2));
		this.store.renew(List.of(), LEASE);
	}

	@Test
	void renewsOnlyWhatIsOpen() {
		this.store.insert(this.saga, List.of());
		this.store.change(this.owner, complete(), List.of());
		this.store.renew(List.of(this.owner), Duration.ofDays(9));
		assertThat(find().due()).isLessThanOrEqualTo(Duration.ofHours(1));
	}

	@Test
	void insertsASagaWithTheWorkOfItsFirstStep() {
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.insertInTransaction(this.saga)).isTrue();
			assertThat(this.store.find(this.saga.id())).isNull();
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isTrue();
		});
		assertThat(find().steps()).isEqualTo(1);
		assertThat(find().journal()).extracting(StoredStep::entry)
			.usingRecursiveFieldByFieldElementComparator()
			.isEqualTo(this.done);
	}

	@Test
	void startsASagaIfTheTransactionCommits() {
		NewSaga started = SagaSamples.saga("checkout", SagaStatus.STARTED);
		transactions().executeWithoutResult((status) -> assertThat(this.store.insertInTransaction(started)).isTrue());
		assertThat(this.store.find(started.id()))
			.satisfies((found) -> assertThat(found.status()).isEqualTo(SagaStatus.STARTED))
			.satisfies((found) -> assertThat(found.steps()).isZero());
		transactions().executeWithoutResult((status) -> assertThat(this.store.insertInTransaction(started)).isFalse());
	}

	@Test
	void forgetsAnInsertThatIsRolledBack() {
		transactions().executeWithoutResult((status) -> {
			this.store.insertInTransaction(this.saga);
			status.setRollbackOnly();
		});
		assertThat(this.store.find(this.saga.id())).isNull();
	}

	@Test
	void writesAStepWithTheTransactionOfItsWork() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isTrue();
			assertThat(find().steps()).isZero();
		});
		assertThat(find().steps()).isEqualTo(1);
		assertThat(find().journal()).hasSize(1);
	}

	@Test
	void writesAStepAndLeavesItsLease() {
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.insertInTransaction(this.saga)).isTrue();
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, Duration.ZERO)).isTrue();
		});
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 2, LEASE)).isTrue();
			assertThat(
					this.store.writeInTransaction(this.owner, 2, List.of(SagaSamples.done("hold", 2)), Duration.ZERO))
				.isTrue();
		});
		assertThat(find().journal()).extracting((step) -> step.entry().name()).containsExactly("order", "hold");
		assertThat(find().due()).isPositive().isLessThanOrEqualTo(LEASE);
	}

	@Test
	void renewsALeaseAfterLongWork() {
		this.store.insert(this.saga, List.of());
		pass(LEASE.minus(SECOND));
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE);
			this.store.writeInTransaction(this.owner, 1, List.of(), LEASE.multipliedBy(3));
		});
		assertThat(find().due()).isGreaterThan(LEASE.multipliedBy(2));
	}

	@Test
	void renewsALeaseOfWhichAThirdIsUsed() {
		this.store.insert(this.saga, List.of());
		pass(LEASE.dividedBy(2));
		this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(), LEASE);
		assertThat(find().due()).isGreaterThan(LEASE.multipliedBy(2).dividedBy(3));
		pass(LEASE.dividedBy(2));
		transactions()
			.executeWithoutResult((status) -> this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 2, LEASE));
		assertThat(find().due()).isGreaterThan(LEASE.multipliedBy(2).dividedBy(3));
	}

	@Test
	void replacesAnEntryWithTheTransactionOfItsUndo() {
		this.store.insert(this.saga, this.done);
		this.store.change(this.owner, compensate("declined"), List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.COMPENSATING, 2, LEASE);
			this.store.writeInTransaction(this.owner, 2, List.of(this.done.get(0).in(StepState.COMPENSATED)), LEASE);
		});
		assertThat(find().journal()).extracting((step) -> step.entry().state()).containsExactly(StepState.COMPENSATED);
	}

	@Test
	void forgetsAStepThatIsRolledBack() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE);
			this.store.writeInTransaction(this.owner, 1, this.done, LEASE);
			status.setRollbackOnly();
		});
		assertThat(find().steps()).isZero();
		assertThat(find().journal()).isEmpty();
		transactions().executeWithoutResult(
				(status) -> assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE))
					.isTrue());
	}

	@Test
	void locksOnlyForTheOwnerInTime() {
		this.store.insert(this.saga, this.done);
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(new SagaOwner(this.saga.id(), 2), SagaStatus.EXECUTING, 2, LEASE))
				.isFalse();
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.COMPENSATING, 2, LEASE)).isFalse();
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isFalse();
		});
		pass(TIMEOUT);
		transactions().executeWithoutResult(
				(status) -> assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 2, LEASE))
					.isFalse());
	}

	@Test
	void writesOnlyWithTheLock() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			for (Duration lease : List.of(LEASE, Duration.ZERO)) {
				assertThat(this.store.writeInTransaction(this.owner, 1, this.done, lease)).isFalse();
				assertThat(this.store.writeInTransaction(this.owner, 1, List.of(), lease)).isFalse();
			}
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE);
			for (Duration lease : List.of(LEASE, Duration.ZERO)) {
				assertThat(this.store.writeInTransaction(this.owner, 2, this.done, lease)).isFalse();
				assertThat(this.store.writeInTransaction(new SagaOwner(this.saga.id(), 2), 1, this.done, lease))
					.isFalse();
			}
		});
		assertThat(find().journal()).isEmpty();
	}

	@Test
	void skipsASagaThatATransactionHasLocked() {
		NewSaga free = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(this.saga, List.of());
		pass(SECOND);
		this.store.insert(free, List.of());
		pass(LEASE);
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, SECOND);
			this.store.renew(List.of(this.owner), TIMEOUT);
			assertThat(this.store.takeOver(this.saga.id(), "second", LEASE)).isNull();
			assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 1)).extracting((taken) -> taken.owner().id())
				.containsExactly(free.id());
		});
		assertThat(find().due()).isLessThanOrEqualTo(SECOND);
		assertThat(find().owner()).isEqualTo(this.owner);
	}

	@Test
	void renewsTheLeaseOfASagaThatRunsPastItsDeadline() {
		this.store.insert(this.saga, List.of());
		passRenewed(TIMEOUT);
		assertThat(takeOver()).isNull();
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 10)).isEmpty();
		pass(LEASE);
		assertThat(Objects.requireNonNull(takeOver()).status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	@Test
	void renewsWhileAnotherSagaIsLocked() {
		NewSaga free = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(this.saga, List.of());
		this.store.insert(free, List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, SECOND);
			this.store.renew(List.of(this.owner, free.owner()), TIMEOUT);
			assertThat(Objects.requireNonNull(this.store.find(free.id())).due()).isGreaterThan(LEASE);
		});
	}

	@Test
	void limitsTheWaitForAnotherTransactionThatInserts() {
		transactions().executeWithoutResult((status) -> {
			this.store.insertInTransaction(this.saga);
			assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> store(SHORT).insert(this.saga, this.done));
			assertThat(onAnotherThread(() -> assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> transactions(SHORT)
					.executeWithoutResult((other) -> store(SHORT).insertInTransaction(this.saga)))))
				.succeedsWithin(1, TimeUnit.MINUTES);
		});
		assertThat(find().journal()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void waitsForAnotherTransactionThatInserts(boolean commits) throws Exception {
		CompletableFuture<Boolean> late = new CompletableFuture<>();
		transactions().executeWithoutResult((status) -> {
			this.store.insertInTransaction(this.saga);
			CompletableFuture<Void> unused = onAnotherThread(
					() -> late.complete(this.store.insert(this.saga, this.done)));
			awaitAWaitingInsert();
			if (!commits) {
				status.setRollbackOnly();
			}
		});
		assertThat(late.get(1, TimeUnit.MINUTES)).isNotEqualTo(commits);
		assertThat(find().journal()).hasSize(commits ? 0 : 1);
	}

	@Test
	void commitsByItselfWhateverTheTransactionOfTheThreadDoes() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.write(this.owner, SagaStatus.EXECUTING, 1, this.done, LEASE);
			status.setRollbackOnly();
		});
		assertThat(find().journal()).hasSize(1);
	}

	@Test
	void needsATransactionForWhatBelongsToOne() {
		this.store.insert(this.saga, List.of());
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.store.insertInTransaction(this.saga));
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE));
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.store.writeInTransaction(this.owner, 0, this.done, LEASE));
	}

	@Test
	void retriesAHaltedSagaInItsFormerStatus() {
		halt(SagaStatus.COMPENSATING);
		assertThat(find().reason()).isEqualTo("unreadable");
		assertThat(administration().retry(this.saga.id())).isTrue();
		assertThat(find().reason()).isEqualTo("declined");
		assertThat(this.store.write(this.owner, SagaStatus.COMPENSATING, 9, List.of(), LEASE)).isFalse();
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(taken.attempts()).isEqualTo(1);
		assertThat(taken.owner().epoch()).isEqualTo(3);
		assertThat(administration().retry(this.saga.id())).isFalse();
		assertThat(administration().retry(Samples.key())).isFalse();
	}

	@Test
	void retriesASagaThatWasHaltedForward() {
		halt(SagaStatus.EXECUTING);
		assertThat(administration().retry(this.saga.id())).isTrue();
		assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 1)).hasSize(1)
			.allSatisfy((taken) -> assertThat(taken.status()).isEqualTo(SagaStatus.EXECUTING));
	}

	@Test
	void keepsACallOfUnknownOutcomeUntilItIsKnownOrAnOperatorRetries() {
		RecordedCall call = new RecordedCall.Made("c".repeat(300));
		JournalEntry acting = SagaSamples.acting("hold", 1);
		this.store.insert(this.saga, List.of(acting, SagaSamples.acting("charge", 2)));
		assertThat(this.store.release(this.owner,
				List.of(acting.called(call), SagaSamples.acting("charge", 2).called(call)), Duration.ZERO))
			.isTrue();
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.journal()).extracting((step) -> step.entry().call()).containsExactly(call, call);
		StatusChange halt = new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "changed", LEASE);
		assertThat(this.store.change(taken.owner(), halt, List.of(SagaSamples.done("charge", 2)))).isTrue();
		assertThat(find().journal()).extracting((step) -> step.entry().call()).containsExactly(call, null);
		assertThat(administration().retry(this.saga.id())).isTrue();
		assertThat(find().journal()).extracting((step) -> step.entry().call()).containsExactly(null, null);
	}

	@Test
	void retriesAHaltedSagaOnlyAsItWasRead() {
		halt(SagaStatus.EXECUTING);
		SagaOwner read = inspect().version();
		assertThat(administration().retry(new SagaOwner(read.id(), read.epoch() + 1))).isFalse();
		assertThat(administration().retry(read)).isTrue();
		assertThat(administration().retry(read)).isFalse();
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
	}

	@Test
	void abortsASagaWhoseOwnerRunsIt() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		assertThat(administration().abort(this.saga.id(), "wrong price")).isTrue();
		assertThat(administration().abort(this.saga.id(), "again")).isFalse();
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 2, List.of(SagaSamples.done("hold", 1)), LEASE))
			.isFalse();
		assertThat(this.store.change(this.owner, complete(), List.of())).isFalse();
		this.store.renew(List.of(this.owner), LEASE);
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(taken.attempts()).isEqualTo(1);
		assertThat(taken.reason()).isEqualTo("An operator has aborted the saga: wrong price");
		assertThat(administration().abort(this.saga.id(), "undone already")).isFalse();
	}

	@Test
	void abortsASagaWhoseOwnerHangsPastItsDeadline() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		passRenewed(TIMEOUT);
		assertThat(takeOver()).isNull();
		assertThat(administration().abort(this.saga.id(), "it hangs")).isTrue();
		assertThat(administration().abort(this.saga.id(), "again")).isFalse();
		this.store.renew(List.of(this.owner), LEASE);
		assertThat(Objects.requireNonNull(takeOver()).status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	/**
	 * It knows the outcome of its action.
	 */
	@Test
	void leavesAnAbortedSagaToItsOwnerIfThatIsFaster() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		administration().abort(this.saga.id(), "wrong price");
		assertThat(this.store.change(this.owner, compensate(null), List.of(SagaSamples.done("hold", 1)))).isTrue();
		this.store.renew(List.of(this.owner), LEASE.multipliedBy(2));
		assertThat(takeOver()).isNull();
		assertThat(find().due()).isGreaterThan(LEASE);
		assertThat(find().reason()).isEqualTo("An operator has aborted the saga: wrong price");
	}

	private void passRenewed(Duration time) {
		for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(LEASE.dividedBy(2))) {
			pass(LEASE.dividedBy(2));
			this.store.renew(List.of(this.owner), LEASE);
		}
	}

	@Test
	void abortsAStartedSagaAndOneThatWasHaltedForward() {
		NewSaga started = SagaSamples.saga("checkout", SagaStatus.STARTED);
		this.store.insert(started, List.of());
		assertThat(administration().abort(started.id(), "not needed")).isTrue();
		assertThat(Objects.requireNonNull(this.store.takeOver(started.id(), "second", LEASE)).status())
			.isEqualTo(SagaStatus.COMPENSATING);
		halt(SagaStatus.EXECUTING);
		assertThat(administration().abort(this.saga.id(), "n".repeat(1200))).isTrue();
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 9, List.of(), LEASE)).isFalse();
		assertThat(Objects.requireNonNull(inspect().reason())).startsWith("An operator has aborted").hasSize(1000);
		assertThat(inspect().haltReason()).isNull();
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(taken.owner().epoch()).isEqualTo(3);
	}

	@Test
	void abortsNothingThatIsUndoneOrHasEnded() {
		halt(SagaStatus.COMPENSATING);
		assertThat(administration().abort(this.saga.id(), "note")).isFalse();
		assertThat(find().status()).isEqualTo(SagaStatus.HALTED);
		begin();
		this.store.insert(this.saga, List.of());
		this.store.change(this.owner, complete(), List.of());
		assertThat(administration().abort(this.saga.id(), "note")).isFalse();
		assertThat(find().status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(administration().abort(Samples.key(), "note")).isFalse();
	}

	@Test
	void closesAHaltedSaga() {
		for (SagaStatus from : List.of(SagaStatus.EXECUTING, SagaStatus.COMPENSATING)) {
			begin();
			halt(from);
			SagaOwner read = inspect().version();
			assertThat(administration().close(new SagaOwner(read.id(), read.epoch() + 1), "note")).isFalse();
			assertThat(administration().close(read, "refunded by hand")).isTrue();
			assertThat(administration().close(read, "refunded by hand")).isFalse();
			OperatedSaga closed = inspect();
			assertThat(closed.status()).isEqualTo(SagaStatus.COMPENSATED);
			assertThat(closed.reason()).isEqualTo("An operator has closed the saga: refunded by hand");
			assertThat(closed.haltReason()).isNull();
			assertThat(closed.steps()).extracting(OperatedStep::state).containsExactly("SKIPPED", "COMPENSATED");
			assertThat(closed.steps()).extracting(OperatedStep::note).containsExactly("refunded by hand", null);
			assertThat(find().arguments()).isNull();
			assertThat(find().journal()).allSatisfy((step) -> assertThat(step.entry().result()).isNull());
			assertThat(this.store.change(this.owner, new StatusChange(from, SagaStatus.HALTED, null, "late", LEASE),
					List.of()))
				.isFalse();
			assertThat(administration().retry(this.saga.id())).isFalse();
			assertThat(takeOver()).isNull();
			assertThat(sweep()).isZero();
			pass(SagaSamples.RETENTION.plus(SECOND));
			assertThat(sweep()).isOne();
		}
	}

	@Test
	void closesNothingThatRuns() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		assertThat(administration().close(this.owner, "note")).isFalse();
		this.store.change(this.owner, compensate("declined"), List.of());
		assertThat(administration().close(this.owner, "note")).isFalse();
		assertThat(find().status()).isEqualTo(SagaStatus.COMPENSATING);
		begin();
		halt(SagaStatus.COMPENSATING);
		SagaOwner read = inspect().version();
		administration().retry(this.saga.id());
		assertThat(administration().close(read, "note")).isFalse();
		assertThat(find().status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	/**
	 * Such as one whose method is gone: each process that had it would have taken the
	 * saga over.
	 */
	@Test
	void closesAnOpenSagaThatNoProcessTakesOver() {
		this.store.insert(this.saga, List.of(SagaSamples.done("hold", 1)));
		assertThat(this.store.release(this.owner, List.of(), Duration.ZERO)).isTrue();
		assertThat(administration().close(this.owner, "by hand")).isFalse();
		pass(SagaAdministration.FORSAKEN.plus(SECOND));
		assertThat(administration().close(new SagaOwner(this.saga.id(), 7), "by hand")).isFalse();
		assertThat(administration().close(this.owner, "by hand")).isTrue();
		assertThat(inspect().status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(inspect().steps()).extracting(OperatedStep::state).containsExactly("SKIPPED");
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 9, List.of(), LEASE)).isFalse();
		assertThat(takeOver()).isNull();
	}

	/**
	 * A skipped step was the one at which the saga was halted: the saga undoes the one
	 * before it by itself.
	 */
	@Test
	void isStuckAtStepsThatItCannotUndoByItself() {
		this.store.insert(this.saga, List.of(SagaSamples.done("order", 1), SagaSamples.done("hold", 2)));
		this.store.change(this.owner, compensate("declined"), List.of());
		this.store.change(this.owner,
				new StatusChange(SagaStatus.COMPENSATING, SagaStatus.HALTED, null, "refused", LEASE), List.of());
		assertThat(stuck()).containsExactly("hold");
		pass(SECOND);
		administration().skip(this.saga.id(), "hold", "by hand");
		assertThat(stuck()).isEmpty();
		begin();
		this.store.insert(this.saga, List.of(SagaSamples.done("order", 1).in(StepState.COMPENSATING),
				SagaSamples.done("hold", 2).undoRefused(), SagaSamples.acting("charge", 3).refused("declined")));
		this.store.change(this.owner, compensate("declined"), List.of());
		assertThat(stuck()).isEmpty();
		this.store.change(this.owner,
				new StatusChange(SagaStatus.COMPENSATING, SagaStatus.HALTED, null, "refused", LEASE), List.of());
		assertThat(stuck()).containsExactly("order", "hold");
	}

	@Test
	void skipsAStepThatAnOperatorHasUndone() {
		halt(SagaStatus.COMPENSATING);
		String note = "n".repeat(1200);
		for (int i = 0; i < 2; i++) {
			assertThat(administration().skip(this.saga.id(), "hold", note)).isTrue();
		}
		assertThat(administration().skip(this.saga.id(), "hold", "by another operator")).isFalse();
		SagaSnapshot.Step step = find().toSnapshot().steps().get(0);
		assertThat(step.state()).isEqualTo(StepState.SKIPPED);
		assertThat(step.note()).isEqualTo("n".repeat(1000));
		assertThat(find().owner().epoch()).isEqualTo(3);
		assertThat(find().status()).isEqualTo(SagaStatus.HALTED);
		assertThat(this.store.change(this.owner,
				new StatusChange(SagaStatus.COMPENSATING, SagaStatus.HALTED, null, "late", LEASE), List.of()))
			.isFalse();
	}

	@Test
	void skipsNothingElse() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		assertThat(administration().skip(this.saga.id(), "hold", "note")).isFalse();
		halt(SagaStatus.EXECUTING);
		assertThat(administration().skip(this.saga.id(), "hold", "note")).isFalse();
		clear();
		halt(SagaStatus.COMPENSATING);
		assertThat(administration().skip(this.saga.id(), "undone", "note")).isFalse();
		assertThat(administration().skip(this.saga.id(), "charge", "note")).isFalse();
		assertThat(administration().skip(Samples.key(), "hold", "note")).isFalse();
		assertThat(find().owner().epoch()).isEqualTo(1);
	}

	@Test
	void listsSagasWithoutTheirSteps() {
		List<NewSaga> open = List.of(SagaSamples.saga("refund", SagaStatus.STARTED),
				SagaSamples.saga("checkout", SagaStatus.EXECUTING), SagaSamples.saga("refund", SagaStatus.EXECUTING));
		open.forEach((one) -> {
			this.store.insert(one, List.of(SagaSamples.acting("hold", 1)));
			pass(SECOND);
		});
		halt(SagaStatus.EXECUTING);
		NewSaga ended = SagaSamples.saga("refund", SagaStatus.EXECUTING);
		this.store.insert(ended, List.of());
		this.store.change(ended.owner(), complete(), List.of());
		assertThat(ids(null, null, 10)).containsExactly(open.get(0).id(), open.get(1).id(), open.get(2).id(),
				this.saga.id());
		assertThat(ids(null, null, 2)).containsExactly(open.get(0).id(), open.get(1).id());
		assertThat(ids(SagaStatus.EXECUTING, null, 10)).containsExactly(open.get(1).id(), open.get(2).id());
		assertThat(ids(SagaStatus.EXECUTING, "refund", 10)).containsExactly(open.get(2).id());
		assertThat(ids(SagaStatus.HALTED, "checkout", 10)).containsExactly(this.saga.id());
		assertThat(ids(SagaStatus.COMPLETED, null, 10)).containsExactly(ended.id());
		assertThat(ids(SagaStatus.COMPENSATED, null, 10)).isEmpty();
		assertThat(administration().list(SagaStatus.HALTED, null, null, 1).sagas()).singleElement()
			.satisfies((halted) -> {
				assertThat(halted.steps()).isEmpty();
				assertThat(halted.haltReason()).isEqualTo("unreadable");
				assertThat(halted.haltedIn()).isEqualTo(SagaStatus.EXECUTING);
			});
	}

	@Test
	void listsEachSagaOnceInPages() {
		List<Object> halted = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			NewSaga one = SagaSamples.saga((i == 3) ? "refund" : "checkout", SagaStatus.EXECUTING);
			halt(one, SagaStatus.EXECUTING);
			halted.add(one.id());
			pass(SECOND);
		}
		List<Object> open = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			NewSaga one = SagaSamples.saga("checkout", (i < 2) ? SagaStatus.STARTED : SagaStatus.EXECUTING);
			this.store.insert(one, List.of());
			open.add(one.id());
			pass(SECOND);
		}
		List<Object> all = pages(null, null, 2);
		assertThat(all).hasSize(9).doesNotHaveDuplicates().startsWith(open.toArray()).endsWith(halted.toArray());
		assertThat(pages(null, null, 3)).isEqualTo(all);
		assertThat(pages(SagaStatus.HALTED, null, 2)).isEqualTo(halted);
		assertThat(pages(SagaStatus.HALTED, "refund", 1)).containsExactly(halted.get(3));
		assertThat(pages(null, "refund", 1)).containsExactly(halted.get(3));
	}

	@Test
	void listsEndedSagasInPagesFromTheLatestOn() {
		List<Object> ended = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			NewSaga one = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
			this.store.insert(one, List.of());
			this.store.change(one.owner(), complete(), List.of());
			ended.add(0, one.id());
			pass(SECOND);
		}
		assertThat(pages(SagaStatus.COMPLETED, null, 2)).isEqualTo(ended);
		assertThat(pages(SagaStatus.COMPLETED, "checkout", 5)).isEqualTo(ended);
	}

	@Test
	void inspectsASagaThatIsUndone() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		OperatedSaga running = inspect();
		assertThat(running.process()).isEqualTo("first");
		assertThat(running.dueIn()).isBetween(LEASE.dividedBy(2), LEASE);
		assertThat(running.haltedIn()).isNull();
		assertThat(running.haltedAt()).isNull();
		assertThat(running.haltedStep()).isNull();
		assertThat(running.steps()).singleElement().satisfies((step) -> {
			assertThat(step.kind()).isEqualTo("COMPENSATED_CALL");
			assertThat(step.state()).isEqualTo("ACTING");
			assertThat(step.begunAt()).isAfterOrEqualTo(running.createdAt());
			assertThat(step.compensatingAt()).isNull();
			assertThat(step.endedAt()).isNull();
		});
		this.store.change(this.owner, compensate("declined"), List.of(SagaSamples.done("hold", 1)));
		OperatedStep done = inspect().steps().get(0);
		assertThat(done.endedAt()).isAfterOrEqualTo(done.begunAt());
		this.store.write(this.owner, SagaStatus.COMPENSATING, 2,
				List.of(SagaSamples.done("hold", 1).in(StepState.COMPENSATING)), LEASE);
		OperatedStep undoing = inspect().steps().get(0);
		assertThat(undoing.begunAt()).isEqualTo(done.begunAt());
		assertThat(undoing.compensatingAt()).isAfterOrEqualTo(done.begunAt());
		assertThat(undoing.endedAt()).isNull();
		this.store.change(this.owner,
				new StatusChange(SagaStatus.COMPENSATING, SagaStatus.HALTED, null, "refused", LEASE),
				List.of(SagaSamples.done("hold", 1).undoRefused()));
		OperatedSaga halted = inspect();
		assertThat(halted.haltedIn()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(halted.haltedAt()).isAfterOrEqualTo(undoing.compensatingAt());
		assertThat(halted.haltReason()).isEqualTo("refused");
		assertThat(halted.reason()).isEqualTo("declined");
		assertThat(halted.haltedStep()).isEqualTo("hold");
		assertThat(halted.dueIn()).isNull();
		OperatedStep refused = halted.steps().get(0);
		assertThat(refused.state()).isEqualTo("DONE");
		assertThat(refused.refusedUndos()).isOne();
		assertThat(refused.compensatingAt()).isNull();
		assertThat(halted.undoKey(refused)).isEqualTo(find().toSnapshot().steps().get(0).undoKey());
		assertThat(halted.actionKey(refused)).isEqualTo(find().toSnapshot().steps().get(0).actionKey());
		administration().skip(this.saga.id(), "hold", "by hand");
		assertThat(inspect().haltedStep()).isNull();
		assertThat(inspect().steps().get(0).note()).isEqualTo("by hand");
		administration().retry(this.saga.id());
		assertThat(inspect().process()).isNull();
		assertThat(inspect().haltedAt()).isNull();
		assertThat(inspect().dueIn()).isZero();
	}

	@Test
	void namesTheStepAtWhichASagaWasHalted() {
		halt(SagaStatus.COMPENSATING);
		assertThat(inspect().haltedStep()).isEqualTo("hold");
		begin();
		halt(SagaStatus.EXECUTING);
		assertThat(inspect().haltedStep()).isNull();
		begin();
		this.store.insert(this.saga, List.of(SagaSamples.done("hold", 1), SagaSamples.acting("charge", 2)));
		this.store.change(this.owner, new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "422", LEASE),
				List.of());
		assertThat(inspect().haltedStep()).isEqualTo("charge");
		assertThat(administration().inspect(Samples.key())).isNull();
	}

	@Test
	void agreesWithTheEngineOnWhatIsToUndo() {
		for (StepKind kind : StepKind.values()) {
			for (StepState state : StepState.values()) {
				for (String reason : Arrays.asList(null, "refused")) {
					JournalEntry entry = new JournalEntry("hold", 1, kind, state, null, reason, 0, null);
					assertThat(new OperatedStep("hold", kind.name(), state.name(), reason, null, 0, Instant.EPOCH, null,
							null)
						.isToUndo()).as("%s", entry).isEqualTo(entry.isToUndo());
				}
			}
		}
	}

	@Test
	void countsWhatIsNotEnded() {
		assertThat(administration().count(SERVED, 10)).isEqualTo(new Counts(Map.of(), 0, 0, Duration.ZERO, true));
		halt(SagaStatus.COMPENSATING);
		this.store.insert(SagaSamples.saga("unserved", SagaStatus.STARTED), List.of());
		this.store.insert(SagaSamples.saga("unserved", SagaStatus.EXECUTING), List.of());
		this.store.insert(SagaSamples.saga("checkout", SagaStatus.EXECUTING), List.of());
		NewSaga ended = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(ended, List.of());
		this.store.change(ended.owner(), complete(), List.of());
		pass(LEASE.plusSeconds(5));
		Counts counts = administration().count(SERVED, 10);
		assertThat(counts.byStatus())
			.isEqualTo(Map.of(SagaStatus.HALTED, 1, SagaStatus.STARTED, 1, SagaStatus.EXECUTING, 2));
		assertThat(counts.unserved()).isEqualTo(2);
		assertThat(counts.oldestDue()).isBetween(LEASE.plusSeconds(4), LEASE.multipliedBy(2));
		assertThat(counts.exact()).isTrue();
		assertThat(administration().count(List.of(), 10).unserved()).isEqualTo(3);
		Counts limited = administration().count(SERVED, 1);
		assertThat(limited.byStatus()).containsEntry(SagaStatus.EXECUTING, 1);
		assertThat(limited.exact()).isFalse();
	}

	@Test
	void sweepsSagasWhoseRetentionHasEnded() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.change(this.owner, complete(), List.of());
		NewSaga kept = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(kept, List.of(SagaSamples.acting("hold", 1)));
		assertThat(sweep()).isZero();
		pass(Duration.ofHours(1));
		halt(SagaSamples.saga("checkout", SagaStatus.EXECUTING), SagaStatus.EXECUTING);
		assertThat(sweep()).isEqualTo(1);
		assertThat(this.store.find(this.saga.id())).isNull();
		assertThat(Objects.requireNonNull(this.store.find(kept.id())).journal()).hasSize(1);
		assertThat(this.store.insert(this.saga, List.of())).isTrue();
		assertThat(find().journal()).isEmpty();
		pass(TIMEOUT.multipliedBy(100));
		assertThat(sweep()).isZero();
	}

	/**
	 * A store of the same sagas that waits this long for locks.
	 */
	static StatusChange complete() {
		return new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, RESULT, null, Duration.ofHours(1));
	}

	static StatusChange compensate(@Nullable String reason) {
		return new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPENSATING, null, reason, LEASE);
	}

	/**
	 * Transactions on the database of {@link #store(Duration)}.
	 */
	protected TransactionTemplate transactions(Duration lockTimeout) {
		return transactions();
	}

	protected static CompletableFuture<Void> onAnotherThread(Runnable work) {
		CompletableFuture<Void> end = new CompletableFuture<>();
		new Thread(() -> {
			try {
				work.run();
				end.complete(null);
			}
			catch (Throwable ex) {
				end.completeExceptionally(ex);
			}
		}, "another").start();
		return end;
	}

	private List<String> stuck() {
		OperatedSaga inspected = inspect();
		return inspected.steps().stream().filter(inspected::isStuck).map(OperatedStep::name).toList();
	}

	private void halt(SagaStatus from) {
		halt(this.saga, from);
	}

	private void halt(NewSaga halted, SagaStatus from) {
		this.store.insert(halted,
				List.of(SagaSamples.done("hold", 1), SagaSamples.done("charge", 2).in(StepState.COMPENSATED)));
		SagaOwner by = halted.owner();
		if (from == SagaStatus.COMPENSATING) {
			this.store.change(by, compensate("declined"), List.of());
		}
		assertThat(
				this.store.change(by, new StatusChange(from, SagaStatus.HALTED, null, "unreadable", LEASE), List.of()))
			.isTrue();
	}

	private List<Object> ids(@Nullable SagaStatus status, @Nullable String name, int limit) {
		return administration().list(status, name, null, limit).sagas().stream().<Object>map(OperatedSaga::id).toList();
	}

	private OperatedSaga inspect() {
		return Objects.requireNonNull(administration().inspect(this.saga.id()));
	}

	private List<Object> pages(@Nullable SagaStatus status, @Nullable String name, int limit) {
		List<Object> ids = new ArrayList<>();
		String after = null;
		do {
			Page page = administration().list(status, name, after, limit);
			page.sagas().forEach((saga) -> ids.add(saga.id()));
			after = page.next();
		}
		while (after != null);
		return ids;
	}

}
