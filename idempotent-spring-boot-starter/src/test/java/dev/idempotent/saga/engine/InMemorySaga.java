package dev.idempotent.saga.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.engine.SagaAdministration.OperatedStep;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import dev.idempotent.saga.engine.SagaStore.StoredStep;
import org.jspecify.annotations.Nullable;

/**
 * One version of the rows of a saga.
 */
final class InMemorySaga {

	final IdempotencyKey id;

	final String name;

	final Fingerprint fingerprint;

	final Instant createdAt;

	Instant deadline;

	SagaStatus status;

	@Nullable SagaStatus haltedIn;

	long epoch;

	int steps;

	int attempts;

	int unfit;

	@Nullable String process;

	@Nullable Instant due;

	byte @Nullable [] arguments;

	byte @Nullable [] result;

	@Nullable String reason;

	@Nullable String haltReason;

	Map<String, Step> journal = new LinkedHashMap<>();

	InMemorySaga(NewSaga saga, Instant now) {
		this.id = saga.id();
		this.epoch = saga.owner().epoch();
		this.name = saga.name();
		this.fingerprint = saga.fingerprint();
		this.createdAt = now;
		this.deadline = now.plus(saga.timeout());
		this.status = saga.status();
		this.process = saga.process();
		this.arguments = saga.arguments();
		lease((saga.status() == SagaStatus.STARTED) ? Duration.ZERO : saga.lease(), now);
	}

	InMemorySaga(InMemorySaga other) {
		this.id = other.id;
		this.name = other.name;
		this.fingerprint = other.fingerprint;
		this.createdAt = other.createdAt;
		this.deadline = other.deadline;
		this.status = other.status;
		this.haltedIn = other.haltedIn;
		this.epoch = other.epoch;
		this.steps = other.steps;
		this.attempts = other.attempts;
		this.unfit = other.unfit;
		this.process = other.process;
		this.due = other.due;
		this.arguments = other.arguments;
		this.result = other.result;
		this.reason = other.reason;
		this.haltReason = other.haltReason;
		this.journal = new LinkedHashMap<>(other.journal);
	}

	boolean isOwnedBy(SagaOwner owner) {
		return this.epoch == owner.epoch();
	}

	boolean isDue(Instant now) {
		return this.status.isOpen() && this.due != null && !this.due.isAfter(now);
	}

	boolean isIn(SagaStatus expected, Instant now) {
		return this.status == expected && (expected == SagaStatus.COMPENSATING || this.deadline.isAfter(now));
	}

	/**
	 * A lease or a delay, at most until the deadline.
	 */
	void lease(Duration time, Instant now) {
		Instant end = now.plus(time);
		this.due = (this.status != SagaStatus.COMPENSATING && end.isAfter(this.deadline)) ? this.deadline : end;
	}

	void write(List<JournalEntry> entries, Instant now) {
		for (JournalEntry entry : entries) {
			Step before = this.journal.get(entry.name());
			Instant compensating = (before != null && before.entry().refusedUndos() == entry.refusedUndos())
					? before.compensatingAt() : null;
			if (compensating == null && entry.state() == StepState.COMPENSATING) {
				compensating = now;
			}
			JournalEntry cut = new JournalEntry(entry.name(), entry.number(), entry.kind(), entry.state(),
					entry.result(), cut(entry.reason()), entry.refusedUndos(), entry.call());
			boolean open = entry.state() == StepState.ACTING || entry.state() == StepState.COMPENSATING;
			this.journal.put(entry.name(), new Step(cut, (before != null) ? before.begunAt() : now, compensating,
					open ? null : now, (before != null) ? before.note() : null));
		}
	}

	void forgetCalls() {
		this.journal.replaceAll((step, stored) -> new Step(stored.entry().called(null), stored.begunAt(),
				stored.compensatingAt(), stored.endedAt(), stored.note()));
	}

	void end() {
		this.arguments = null;
		this.journal.replaceAll((step, stored) -> {
			JournalEntry entry = stored.entry();
			return new Step(entry.withoutResult(), stored.begunAt(), stored.compensatingAt(), stored.endedAt(),
					stored.note());
		});
	}

	StoredSaga stored(Instant now) {
		List<StoredStep> steps = this.journal.values()
			.stream()
			.sorted(Comparator.comparingInt((step) -> step.entry().number()))
			.map((step) -> new StoredStep(step.entry(), Duration.between(step.begunAt(), now),
					(step.compensatingAt() != null) ? Duration.between(step.compensatingAt(), now) : Duration.ZERO,
					step.note()))
			.toList();
		String why = (this.haltReason != null) ? this.haltReason : this.reason;
		return new StoredSaga(new SagaOwner(this.id, this.epoch), this.name, this.status, this.steps, this.attempts,
				this.unfit, this.fingerprint, this.arguments, this.result, why,
				(this.due != null) ? Duration.between(now, this.due) : Duration.ZERO,
				Duration.between(this.createdAt, now), this.createdAt, this.deadline, steps, null);
	}

	static @Nullable String cut(@Nullable String text) {
		return SagaStore.text(text);
	}

	OperatedSaga operated(Instant now, List<OperatedStep> shown) {
		boolean halted = this.status == SagaStatus.HALTED;
		Duration left = (this.due == null || this.due.isBefore(now)) ? Duration.ZERO : Duration.between(now, this.due);
		return new OperatedSaga(new SagaOwner(this.id, this.epoch), this.name, this.status, this.haltedIn,
				halted ? this.due : null, this.haltReason, this.reason, this.process, halted ? null : left,
				this.attempts, this.createdAt, this.deadline, shown);
	}

	List<OperatedStep> operatedSteps() {
		return this.journal.values()
			.stream()
			.sorted(Comparator.comparingInt((step) -> step.entry().number()))
			.map((step) -> new OperatedStep(step.entry().name(), step.entry().kind().name(),
					step.entry().state().name(), step.entry().reason(), step.note(), step.entry().refusedUndos(),
					step.begunAt(), step.compensatingAt(), step.endedAt()))
			.toList();
	}

	record Step(JournalEntry entry, Instant begunAt, @Nullable Instant compensatingAt, @Nullable Instant endedAt,
			@Nullable String note) {
	}

}
