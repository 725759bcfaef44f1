package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StatusChange;
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
	void skipsAStepThatAnOperatorHasUndone() {
		halt(SagaStatus.COMPENSATING);
		String note = "n".repeat(1200);
		for (int i = 0; i < 2; i++) {
			assertThat(administration().skip(this.saga.id(), "hold", note)).isTrue();
		}
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
		assertThat(administration().list(SagaStatus.HALTED, null, 1)).singleElement().satisfies((halted) -> {
			assertThat(halted.steps()).isEmpty();
			assertThat(halted.reason()).isEqualTo("unreadable");
		});
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
		return administration().list(status, name, limit).stream().<Object>map(SagaSnapshot::id).toList();
	}

}
