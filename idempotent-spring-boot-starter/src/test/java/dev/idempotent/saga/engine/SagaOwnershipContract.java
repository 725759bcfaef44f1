package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Race;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StatusChange;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static dev.idempotent.saga.engine.SagaSamples.RESULT;
import static dev.idempotent.saga.engine.SagaSamples.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a {@link SagaStore} promises to processes that take sagas over.
 */
abstract class SagaOwnershipContract extends SagaJournalContract {

	static final List<String> SERVED = List.of("checkout", "refund");

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
		assertThat(this.store.releaseUnfit(this.owner, Duration.ZERO)).isFalse();
		assertThat(this.store.releaseUnfit(second, LEASE)).isTrue();
		assertThat(find().attempts()).isZero();
		assertThat(find().unfit()).isOne();
		assertThat(takeOver()).isNull();
		pass(LEASE);
		SagaOwner third = Objects.requireNonNull(takeOver()).owner();
		this.store.write(third, SagaStatus.EXECUTING, 1, List.of(), LEASE);
		assertThat(this.store.releaseUnfit(third, Duration.ZERO)).isTrue();
		assertThat(find().attempts()).isZero();
		assertThat(find().unfit()).isEqualTo(2);
		this.store.change(Objects.requireNonNull(takeOver()).owner(),
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "unfit", LEASE), List.of());
		assertThat(administration().retry(this.saga.id())).isTrue();
		assertThat(find().unfit()).isZero();
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
		List<List<StoredSaga>> taken = Race.of(6,
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
			List<Object> ends = Race.of(2,
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
		List<Boolean> inserted = Race.of(8,
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
		assertThat(find().due()).isBetween(LEASE, TIMEOUT);
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

	@Nullable StoredSaga takeOver() {
		return this.store.takeOver(this.saga.id(), "second", LEASE);
	}

}
