package dev.idempotent.saga.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.engine.SagaAdministration.OperatedStep;
import dev.idempotent.saga.engine.SagaAdministration.Page;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StatusChange;
import dev.idempotent.saga.engine.SagaStore.StepKind;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static dev.idempotent.saga.engine.SagaSamples.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * All promises of a {@link SagaStore} and its {@link SagaAdministration}.
 */
public abstract class SagaStoreContract extends SagaTransactionsContract {

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
		String call = "c".repeat(300);
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
		StoredSaga taken = Objects.requireNonNull(takeOver());
		assertThat(taken.status()).isEqualTo(SagaStatus.COMPENSATING);
		assertThat(taken.attempts()).isEqualTo(1);
		assertThat(taken.reason()).isEqualTo("An operator has aborted the saga: wrong price");
		assertThat(administration().abort(this.saga.id(), "undone already")).isFalse();
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

	private List<String> stuck() {
		OperatedSaga inspected = inspect();
		return inspected.steps().stream().filter(inspected::isStuck).map(OperatedStep::name).toList();
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
		assertThat(administration().count(SERVED, 10)).isEqualTo(new Counts(Map.of(), 0, Duration.ZERO, true));
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
