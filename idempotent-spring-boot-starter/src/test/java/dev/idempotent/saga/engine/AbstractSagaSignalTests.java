package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.Cancellation;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.Signal;
import dev.idempotent.saga.store.SagaStore.SignalReceipt;
import dev.idempotent.saga.store.SagaStore.StatusChange;
import dev.idempotent.saga.store.SagaStore.Wait;
import dev.idempotent.saga.store.SagaStore.WaitEnd;
import dev.idempotent.saga.store.StepKind;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.testing.ConcurrentRuns;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static dev.idempotent.saga.engine.SagaSamples.RETENTION;
import static dev.idempotent.saga.engine.SagaSamples.TIMEOUT;
import static dev.idempotent.saga.engine.SagaSamples.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store of sagas promises of waits, signals and cancellations.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class AbstractSagaSignalTests {

	private static final Duration LIMIT = Duration.ofMinutes(5);

	private static final int ROUNDS = 40;

	protected final NewSaga saga = SagaSamples.saga("checkout", SagaStatus.EXECUTING);

	protected final SagaOwner owner = this.saga.owner();

	protected SagaStore store;

	@BeforeEach
	void begin() {
		clear();
		this.store = store(Duration.ofMinutes(1));
	}

	@Test
	void releasesASagaThatWaits() {
		WaitEnd end = beginWait();
		assertThat(end.entry()).isNull();
		assertThat(end.due()).isBetween(LIMIT.minusSeconds(30), LIMIT);
		StoredSaga found = find();
		assertThat(found.status()).isEqualTo(SagaStatus.EXECUTING);
		assertThat(found.waitsFor()).isEqualTo("paid");
		assertThat(found.due()).isBetween(LIMIT.minusSeconds(30), LIMIT);
		SagaSnapshot.Waiting waiting = Objects.requireNonNull(found.toSnapshot().waiting());
		assertThat(waiting.name()).isEqualTo("paid");
		assertThat(waiting.signal()).isTrue();
		assertThat(Duration.between(waiting.since(), waiting.until())).isBetween(LIMIT.minusSeconds(30),
				LIMIT.plusSeconds(1));
		assertThat(takeOver()).isNull();
		assertThat(operated().waitsFor()).isEqualTo("paid");
		assertThat(operated().process()).isNull();
		assertThat(administration().count(List.of("checkout"), 10).waiting()).isOne();
		this.store.insert(SagaSamples.saga("checkout", SagaStatus.EXECUTING), List.of());
		assertThat(administration().count(List.of("checkout"), 10).waiting()).isOne();
	}

	@Test
	void doesNotRenewTheLeaseOfASagaThatWaits() {
		beginWait();
		this.store.renew(List.of(this.owner), TIMEOUT);
		assertThat(find().due()).isLessThanOrEqualTo(LIMIT);
	}

	@Test
	void makesASagaDueByTheSignalThatItWaitsFor() {
		beginWait();
		assertThat(signal("paid", "100")).isEqualTo(new SignalReceipt(SignalResult.ACCEPTED, "checkout"));
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.waitsFor()).isNull();
		JournalEntry ended = Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry());
		assertThat(ended.state()).isEqualTo(StepState.DONE);
		assertThat(ended.result()).isEqualTo(bytes("100"));
		assertThat(find().journal().get(0).entry()).usingRecursiveComparison().isEqualTo(ended);
		assertThat(find().due()).isBetween(LEASE.minusSeconds(30), LEASE);
		assertThat(find().attempts()).isZero();
	}

	@Test
	void doesNotMakeASagaDueByAnotherSignal() {
		beginWait();
		assertThat(signal("approved", "1")).isEqualTo(new SignalReceipt(SignalResult.ACCEPTED, null));
		assertThat(takeOver()).isNull();
	}

	@Test
	void keepsASignalUntilTheSagaWaitsForIt() {
		this.store.insert(this.saga, List.of(wait("paid")));
		assertThat(signal("paid", "100")).isEqualTo(new SignalReceipt(SignalResult.ACCEPTED, null));
		assertThat(Objects.requireNonNull(endWait(this.owner, LIMIT).entry()).result()).isEqualTo(bytes("100"));
	}

	@Test
	void keepsASignalUntilTheSagaExists() {
		assertThat(signal("paid", "100")).isEqualTo(new SignalReceipt(SignalResult.EARLY, null));
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.DUPLICATE);
		this.store.insert(this.saga, List.of(wait("paid")));
		assertThat(Objects.requireNonNull(endWait(this.owner, LIMIT).entry()).result()).isEqualTo(bytes("100"));
	}

	@Test
	void countsTheFirstSignalOfAName() {
		beginWait();
		signal("paid", "100");
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.DUPLICATE);
		assertThat(signal("paid", "200").result()).isEqualTo(SignalResult.DIFFERENT);
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry()).result()).isEqualTo(bytes("100"));
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.DUPLICATE);
		assertThat(signal("paid", "200").result()).isEqualTo(SignalResult.DIFFERENT);
		assertThat(find().journal().get(0).entry().result()).isEqualTo(bytes("100"));
	}

	@Test
	void recordsThatTheTimeHasPassed() {
		beginWait();
		pass(LIMIT.plusSeconds(1));
		StoredSaga taken = Objects.requireNonNull(takeOver());
		JournalEntry ended = Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry());
		assertThat(ended.reason()).isEqualTo("expired");
		assertThat(find().journal().get(0).entry().state()).isEqualTo(StepState.REFUSED);
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.TOO_LATE);
	}

	@Test
	void expiresAWaitForATest() {
		assertThat(administration().expireWait(this.saga.id())).isFalse();
		this.store.insert(this.saga, List.of(wait("paid")));
		assertThat(administration().expireWait(this.saga.id())).isFalse();
		Duration before = Duration.between(find().createdAt(), find().deadline());
		endWait(this.owner, LIMIT);
		assertThat(administration().expireWait(this.saga.id())).isTrue();
		assertThat(find().due()).isLessThanOrEqualTo(Duration.ZERO);
		assertThat(find().age()).isGreaterThanOrEqualTo(LIMIT);
		assertThat(Duration.between(find().createdAt(), find().deadline()).minus(before))
			.isBetween(Duration.ofMillis(-1), Duration.ofMillis(1));
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.status()).isEqualTo(SagaStatus.EXECUTING);
		assertThat(administration().expireWait(this.saga.id())).isFalse();
		assertThat(Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry()).reason()).isEqualTo("expired");
	}

	@Test
	void undoesASagaWhoseDeadlineIsBeforeTheEndOfTheWaitOfATest() {
		this.store.insert(this.saga, List.of(wait("paid")));
		endWait(this.owner, TIMEOUT.multipliedBy(2));
		assertThat(administration().expireWait(this.saga.id())).isTrue();
		assertThat(Objects.requireNonNull(takeOver()).status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	@Test
	void acceptsASignalUntilItIsRecordedThatTheTimeHasPassed() {
		beginWait();
		pass(LIMIT.plusSeconds(1));
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.ACCEPTED);
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry()).result()).isEqualTo(bytes("100"));
	}

	@Test
	void namesTheSignalsThatNobodyHasReadWhenTheTimeHasPassed() {
		beginWait();
		signal("payed", "100");
		pass(LIMIT.plusSeconds(1));
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry()).reason())
			.isEqualTo("expired. Signals of other names have arrived: payed");
	}

	@Test
	void sleepsWhateverSignalArrives() {
		JournalEntry sleep = new JournalEntry("paid", 1, StepKind.SLEEP, StepState.ACTING, null, null, 0, null);
		this.store.insert(this.saga, List.of(sleep));
		signal("paid", "100");
		Wait wait = new Wait(sleep, LIMIT, sleep.done(bytes("null")));
		assertThat(this.store.endWait(this.owner, 1, wait, LEASE).due()).isNotNull();
		pass(LIMIT.plusSeconds(1));
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(Objects.requireNonNull(this.store.endWait(taken.owner(), 1, wait, LEASE).entry()).result())
			.isEqualTo(bytes("null"));
	}

	@Test
	void waitsAtMostUntilTheDeadline() {
		this.store.insert(this.saga, List.of(wait("paid")));
		endWait(this.owner, TIMEOUT.multipliedBy(2));
		assertThat(find().due()).isBetween(LIMIT, TIMEOUT);
		pass(TIMEOUT.plusSeconds(1));
		assertThat(Objects.requireNonNull(takeOver()).status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.TOO_LATE);
	}

	@Test
	void endsNoWaitOfAFormerOwner() {
		beginWait();
		signal("paid", "100");
		takeOver();
		assertThat(endWait(this.owner, LIMIT)).isEqualTo(WaitEnd.LOST);
		assertThat(find().journal().get(0).entry().state()).isEqualTo(StepState.ACTING);
	}

	@Test
	void endsNoWaitOfASagaThatIsUndone() {
		this.store.insert(this.saga, List.of(wait("paid")));
		this.store.cancel(this.saga.id(), "reason");
		assertThat(endWait(this.owner, LIMIT)).isEqualTo(WaitEnd.LOST);
	}

	@Test
	void acceptsNoSignalForASagaThatWasHaltedAndIsLate() {
		this.store.insert(this.saga, List.of(wait("paid")));
		this.store.change(this.owner, new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "reason", LEASE),
				List.of());
		pass(TIMEOUT);
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.TOO_LATE);
	}

	@Test
	void forgetsWhichInstancesASagaDidNotFit() {
		this.store.insert(this.saga, List.of(wait("paid")));
		this.store.releaseIncompatible(this.owner, Duration.ofMillis(1));
		pass(Duration.ofSeconds(1));
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.incompatibleRuns()).isOne();
		endWait(taken.owner(), LIMIT);
		assertThat(find().incompatibleRuns()).isZero();
	}

	@Test
	void acceptsNoSignalAfterTheEnd() {
		this.store.insert(this.saga, List.of());
		this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, bytes("1"), null, RETENTION), List.of());
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.TOO_LATE);
	}

	@Test
	void acceptsASignalForASagaThatIsHaltedWhileItRuns() {
		this.store.insert(this.saga, List.of(wait("paid")));
		this.store.change(this.owner, new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "reason", LEASE),
				List.of());
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.ACCEPTED);
		administration().retry(this.saga.id());
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry()).result()).isEqualTo(bytes("100"));
	}

	@Test
	void sendsASignalOnlyIfTheTransactionCommits() {
		beginWait();
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.signalInTransaction(of("paid", "100")).result()).isEqualTo(SignalResult.ACCEPTED);
			status.setRollbackOnly();
		});
		assertThat(takeOver()).isNull();
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.signalInTransaction(of("paid", "200")))
				.isEqualTo(new SignalReceipt(SignalResult.ACCEPTED, "checkout"));
			assertThat(this.store.signalInTransaction(of("paid", "200")).result()).isEqualTo(SignalResult.DUPLICATE);
		});
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry()).result()).isEqualTo(bytes("200"));
	}

	/**
	 * The snapshot of the sender may be older than the cancellation.
	 */
	@Test
	void acceptsNoSignalForASagaThatWasCancelledSinceItsTransactionBegan() {
		beginWait();
		TransactionTemplate repeatable = transactions();
		repeatable.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		SignalResult result = repeatable.execute((status) -> {
			assertThat(this.store.findInTransaction(this.saga.id())).isNotNull();
			CompletableFuture.runAsync(() -> this.store.cancel(this.saga.id(), "reason")).join();
			try {
				return this.store.signalInTransaction(of("paid", "100")).result();
			}
			catch (ConcurrencyFailureException ex) {
				status.setRollbackOnly();
				return SignalResult.TOO_LATE;
			}
		});
		assertThat(result).isEqualTo(SignalResult.TOO_LATE);
	}

	/**
	 * A saga that has begun to wait before the signal was committed would otherwise not
	 * hear of it.
	 */
	@Test
	void waitsForTheTransactionOfASignalBeforeItWaits() throws Exception {
		this.store.insert(this.saga, List.of(wait("paid")));
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<WaitEnd> waiting = new CompletableFuture<>();
		transactions().executeWithoutResult((status) -> {
			this.store.signalInTransaction(of("paid", "100"));
			CompletableFuture.runAsync(() -> {
				begun.countDown();
				waiting.complete(endWait(this.owner, LIMIT));
			}).exceptionally((ex) -> {
				waiting.completeExceptionally(ex);
				return null;
			});
			await(begun);
			awaitAWaitingInsert();
			assertThat(waiting).isNotDone();
		});
		JournalEntry ended = waiting.get(1, TimeUnit.MINUTES).entry();
		assertThat(Objects.requireNonNull(ended).result()).isEqualTo(bytes("100"));
	}

	/**
	 * Whoever is first: either the saga finds the signal, or the signal makes it due.
	 */
	@Test
	void losesNoSignalThatIsSentWhileTheSagaBeginsToWait() throws InterruptedException {
		for (int round = 0; round < ROUNDS; round++) {
			NewSaga next = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
			this.store.insert(next, List.of(wait("paid")));
			List<Object> ends = ConcurrentRuns.of(2, (runner) -> (runner == 0)
					? this.store.endWait(next.owner(), 1, waitOf(wait("paid"), LIMIT), LEASE) : this.store
						.signal(new Signal(next.id(), "paid", bytes("100"), Samples.fingerprint("100"), RETENTION)));
			WaitEnd end = (WaitEnd) ends.get(0);
			SignalReceipt receipt = (SignalReceipt) ends.get(1);
			assertThat(receipt.result()).isEqualTo(SignalResult.ACCEPTED);
			if (end.entry() == null) {
				assertThat(receipt.woken()).isEqualTo("checkout");
				assertThat(this.store.takeOver(next.id(), "second", LEASE)).isNotNull();
			}
			else {
				assertThat(end.entry().result()).isEqualTo(bytes("100"));
				assertThat(receipt.woken()).isNull();
			}
		}
	}

	/**
	 * One outcome: the sender is told that it counts if and only if the saga receives it.
	 */
	@Test
	void agreesOnTheSignalThatMeetsTheEndOfTheTime() throws InterruptedException {
		for (int round = 0; round < ROUNDS; round++) {
			NewSaga next = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
			this.store.insert(next, List.of(wait("paid")));
			this.store.endWait(next.owner(), 1, waitOf(wait("paid"), LIMIT), LEASE);
			pass(LIMIT.plusSeconds(1));
			StoredSaga taken = Objects.requireNonNull(this.store.takeOver(next.id(), "second", LEASE));
			List<Object> ends = ConcurrentRuns.of(2, (runner) -> (runner == 0)
					? this.store.endWait(taken.owner(), 1, waitOf(wait("paid"), LIMIT), LEASE) : this.store
						.signal(new Signal(next.id(), "paid", bytes("100"), Samples.fingerprint("100"), RETENTION)));
			JournalEntry ended = Objects.requireNonNull(((WaitEnd) ends.get(0)).entry());
			SignalResult result = ((SignalReceipt) ends.get(1)).result();
			assertThat(ended.isDone()).isEqualTo(result == SignalResult.ACCEPTED);
			assertThat(ended.isRefused()).isEqualTo(result == SignalResult.TOO_LATE);
		}
	}

	@Test
	void acceptsOneOfManyDifferentSignals() throws InterruptedException {
		beginWait();
		List<SignalResult> results = ConcurrentRuns.of(8, (runner) -> signal("paid", "amount " + runner).result());
		assertThat(results).filteredOn(SignalResult.ACCEPTED::equals).hasSize(1);
		assertThat(results).filteredOn(SignalResult.DIFFERENT::equals).hasSize(7);
	}

	/**
	 * A saga with the id of one whose retention has ended is another saga.
	 */
	@Test
	void forgetsTheSignalsOfASagaWithIt() {
		this.store.insert(this.saga, List.of());
		signal("paid", "100");
		this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, bytes("1"), null, Duration.ofMillis(1)),
				List.of());
		pass(LEASE);
		sweep();
		assertThat(this.store.find(this.saga.id())).isNull();
		beginWait();
		assertThat(find().waitsFor()).isEqualTo("paid");
	}

	@Test
	void forgetsASignalWhoseSagaDoesNotComeInTime() {
		signal("paid", "100");
		pass(RETENTION.plusSeconds(1));
		sweep();
		beginWait();
		assertThat(find().waitsFor()).isEqualTo("paid");
	}

	@Test
	void keepsTheSignalOfASagaThatExistsForLonger() {
		NewSaga longer = SagaSamples.sagaOf(this.saga, LEASE, RETENTION.multipliedBy(4));
		this.store.insert(longer, List.of(wait("paid")));
		signal("paid", "100");
		pass(RETENTION.plusSeconds(1));
		sweep();
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(Objects.requireNonNull(endWait(taken.owner(), LIMIT).entry()).result()).isEqualTo(bytes("100"));
	}

	@Test
	void cancelsASagaThatWaitsAtOnce() {
		beginWait();
		assertThat(this.store.cancel(this.saga.id(), "reason"))
			.isEqualTo(new Cancellation(SagaStatus.COMPENSATING, "checkout"));
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(taken.reason()).isEqualTo("reason");
		assertThat(signal("paid", "100").result()).isEqualTo(SignalResult.TOO_LATE);
	}

	/**
	 * Nobody undoes the saga meanwhile, as long as its lease is renewed.
	 */
	@Test
	void letsTheOwnerOfACancelledSagaFinishItsCall() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.cancel(this.saga.id(), "reason");
		pass(LEASE.dividedBy(2));
		this.store.renew(List.of(this.owner), LEASE);
		pass(LEASE.dividedBy(2).plusSeconds(1));
		assertThat(takeOver()).isNull();
		assertThat(this.store.write(this.owner, SagaStatus.EXECUTING, 2, List.of(SagaSamples.done("hold", 1)), LEASE))
			.isFalse();
		assertThat(this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPENSATING, null, null, LEASE),
				List.of(SagaSamples.done("hold", 1))))
			.isTrue();
		assertThat(find().reason()).isEqualTo("reason");
	}

	@Test
	void cancelsASagaThatWasStarted() {
		NewSaga started = SagaSamples.saga("checkout", SagaStatus.STARTED);
		this.store.insert(started, List.of());
		assertThat(this.store.cancel(started.id(), "reason").status()).isEqualTo(SagaStatus.COMPENSATING);
		StoredSaga taken = Objects.requireNonNull(this.store.takeOver(started.id(), "second", LEASE));
		assertThat(taken.status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	@Test
	void cancelsASagaThatIsHaltedWhileItRuns() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "unreadable", LEASE), List.of());
		assertThat(this.store.cancel(this.saga.id(), "reason").status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(Objects.requireNonNull(takeOver()).status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	/**
	 * The owner may complete it at the last moment, unless it is told otherwise.
	 */
	@Test
	void cancelsASagaWhoseDeadlineHasPassed() {
		this.store.insert(this.saga, List.of());
		pass(TIMEOUT.plusSeconds(1));
		assertThat(this.store.cancel(this.saga.id(), "reason").status()).isEqualTo(SagaStatus.COMPENSATING);
		pass(Duration.ofHours(-2));
		assertThat(this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, bytes("1"), null, RETENTION), List.of()))
			.isFalse();
	}

	@Test
	void tellsThatItIsTooLateToCancel() {
		assertThat(this.store.cancel(this.saga.id(), "reason")).isEqualTo(new Cancellation(null, null));
		this.store.insert(this.saga, List.of());
		this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPENSATING, null, "declined", LEASE), List.of());
		assertThat(this.store.cancel(this.saga.id(), "reason").status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(find().reason()).isEqualTo("declined");
		this.store.change(this.owner,
				new StatusChange(SagaStatus.COMPENSATING, SagaStatus.COMPENSATED, null, null, RETENTION), List.of());
		assertThat(this.store.cancel(this.saga.id(), "reason"))
			.isEqualTo(new Cancellation(SagaStatus.COMPENSATED, null));
		NewSaga other = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(other, List.of());
		this.store.change(other.owner(),
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, bytes("1"), null, RETENTION), List.of());
		assertThat(this.store.cancel(other.id(), "reason")).isEqualTo(new Cancellation(SagaStatus.COMPLETED, null));
	}

	@Test
	void cancelsOnlyIfTheTransactionCommits() {
		beginWait();
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.cancelInTransaction(this.saga.id(), "reason").status())
				.isEqualTo(SagaStatus.COMPENSATING);
			status.setRollbackOnly();
		});
		assertThat(takeOver()).isNull();
		transactions().executeWithoutResult((status) -> this.store.cancelInTransaction(this.saga.id(), "reason"));
		assertThat(Objects.requireNonNull(takeOver()).status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	/**
	 * Either the saga has completed, or it will be undone, and the caller is told which.
	 */
	@Test
	void agreesOnACancellationThatMeetsTheEnd() throws InterruptedException {
		for (int round = 0; round < ROUNDS; round++) {
			NewSaga next = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
			this.store.insert(next, List.of());
			List<Object> ends = ConcurrentRuns.of(
					2, (
							runner) -> (runner == 0)
									? this.store.change(next.owner(),
											new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, bytes("1"),
													null, RETENTION),
											List.of())
									: this.store.cancel(next.id(), "reason"));
			SagaStatus told = ((Cancellation) ends.get(1)).status();
			assertThat(told)
				.isEqualTo(Boolean.TRUE.equals(ends.get(0)) ? SagaStatus.COMPLETED : SagaStatus.COMPENSATING);
		}
	}

	protected final WaitEnd beginWait() {
		this.store.insert(this.saga, List.of(wait("paid")));
		return endWait(this.owner, LIMIT);
	}

	private WaitEnd endWait(SagaOwner by, Duration limit) {
		return this.store.endWait(by, 1, waitOf(wait("paid"), limit), LEASE);
	}

	private static Wait waitOf(JournalEntry entry, Duration limit) {
		return new Wait(entry, limit, entry.refused("expired"));
	}

	private static JournalEntry wait(String name) {
		return new JournalEntry(name, 1, StepKind.SIGNAL, StepState.ACTING, null, null, 0, null);
	}

	private SignalReceipt signal(String name, String content) {
		return this.store.signal(of(name, content));
	}

	protected final Signal of(String name, String content) {
		return new Signal(this.saga.id(), name, bytes(content), Samples.fingerprint(content), RETENTION);
	}

	final @Nullable StoredSaga takeOver() {
		return this.store.takeOver(this.saga.id(), "second", LEASE);
	}

	protected final StoredSaga find() {
		return Objects.requireNonNull(this.store.find(this.saga.id()));
	}

	private OperatedSaga operated() {
		return Objects.requireNonNull(administration().inspect(this.saga.id()));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	protected abstract SagaStore store(Duration lockTimeout);

	protected abstract SagaAdministration administration();

	/**
	 * Transactions on the database of the store.
	 */
	protected abstract TransactionTemplate transactions();

	/**
	 * Lets time pass for all sagas and signals.
	 */
	protected abstract void pass(Duration time);

	/**
	 * Deletes ended sagas and signals whose retention has ended.
	 * @return how many
	 */
	protected abstract int sweep();

	/**
	 * Deletes all sagas and signals.
	 */
	protected abstract void clear();

	/**
	 * Waits until an insert waits for a transaction.
	 */
	protected abstract void awaitAWaitingInsert();

}
