package dev.idempotent.saga.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Predicate;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.engine.SagaAdministration.OperatedStep;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.Signal;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.saga.store.StoredStep;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The rows of sagas, with the locks of transactions and the versions that they have not
 * committed.
 */
final class InMemorySagaRows {

	/**
	 * How long the operations of an owner wait for a lock.
	 */
	private static final Duration LONG = Duration.ofMinutes(1);

	private final Map<IdempotencyKey, Row> rows = new HashMap<>();

	synchronized @Nullable InMemorySaga committed(IdempotencyKey id) {
		Row row = this.rows.get(id);
		return (row != null) ? row.committed : null;
	}

	/**
	 * Returns the sagas that no transaction has locked.
	 */
	synchronized List<InMemorySaga> unlocked() {
		return this.rows.values()
			.stream()
			.filter((row) -> row.transaction == null && row.committed != null)
			.map((row) -> row.committed)
			.toList();
	}

	synchronized Collection<InMemorySaga> committed() {
		return this.rows.values().stream().map((row) -> row.committed).filter((saga) -> saga != null).toList();
	}

	synchronized boolean insert(InMemorySaga saga, Duration lockTimeout) {
		Row row = free(saga.id, lockTimeout);
		if (row.committed != null) {
			return false;
		}
		row.committed = saga;
		return true;
	}

	synchronized void remove(IdempotencyKey id) {
		Row row = free(id, LONG);
		row.committed = null;
		row.signals = Map.of();
	}

	/**
	 * Removes the signals that no saga has come for.
	 */
	synchronized void removeSignals(Instant now) {
		this.rows.values().stream().filter((row) -> row.transaction == null && row.committed == null).forEach((row) -> {
			Map<String, InMemorySignal> left = new LinkedHashMap<>(row.signals);
			left.values().removeIf((signal) -> !signal.expiresAt().isAfter(now));
			row.signals = left;
		});
	}

	/**
	 * Commits changes of a saga, {@code null} if it does not exist, and of its signals.
	 */
	synchronized <T> T with(IdempotencyKey id,
			BiFunction<@Nullable InMemorySaga, Map<String, InMemorySignal>, T> work) {
		Row row = free(id, LONG);
		InMemorySaga next = (row.committed != null) ? new InMemorySaga(row.committed) : null;
		Map<String, InMemorySignal> signals = new LinkedHashMap<>(row.signals);
		T result = work.apply(next, signals);
		row.committed = next;
		row.signals = signals;
		return result;
	}

	synchronized <T> T withInTransaction(IdempotencyKey id,
			BiFunction<@Nullable InMemorySaga, Map<String, InMemorySignal>, T> work) {
		Row row = locked(id, LONG);
		InMemorySaga next = (row.own != null) ? new InMemorySaga(row.own) : null;
		Map<String, InMemorySignal> signals = new LinkedHashMap<>(row.ownSignals);
		T result = work.apply(next, signals);
		row.own = next;
		row.ownSignals = signals;
		return result;
	}

	/**
	 * Commits a change of a saga, unless it is refused.
	 */
	synchronized boolean change(IdempotencyKey id, Predicate<InMemorySaga> change) {
		Row row = free(id, LONG);
		InMemorySaga next = (row.committed != null) ? new InMemorySaga(row.committed) : null;
		if (next == null || !change.test(next)) {
			return false;
		}
		row.committed = next;
		return true;
	}

	synchronized boolean insertInTransaction(InMemorySaga saga, Duration lockTimeout) {
		Row row = locked(saga.id, lockTimeout);
		if (row.own != null) {
			return false;
		}
		row.own = saga;
		return true;
	}

	synchronized boolean changeInTransaction(IdempotencyKey id, Predicate<InMemorySaga> change) {
		Row row = locked(id, LONG);
		InMemorySaga next = (row.own != null) ? new InMemorySaga(row.own) : null;
		if (next == null || !change.test(next)) {
			return false;
		}
		row.own = next;
		return true;
	}

	private Row locked(IdempotencyKey id, Duration lockTimeout) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new InvalidDataAccessApiUsageException("There is no transaction");
		}
		Row row = this.rows.computeIfAbsent(id, (key) -> new Row());
		if (row.transaction != Thread.currentThread()) {
			row = free(id, lockTimeout);
			row.transaction = Thread.currentThread();
			row.own = row.committed;
			row.ownSignals = row.signals;
			TransactionSynchronizationManager.registerSynchronization(new End(row));
		}
		return row;
	}

	private Row free(IdempotencyKey id, Duration lockTimeout) {
		Row row = this.rows.computeIfAbsent(id, (key) -> new Row());
		long end = System.nanoTime() + lockTimeout.toNanos();
		while (row.transaction != null) {
			long left = (end - System.nanoTime()) / 1_000_000;
			if (left <= 0) {
				throw new CannotAcquireLockException("The lock on a row was not granted in time");
			}
			try {
				wait(left);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new CannotAcquireLockException("The wait for the lock on a row was interrupted", ex);
			}
		}
		return row;
	}

	private synchronized void end(Row row, boolean commit) {
		row.committed = commit ? row.own : row.committed;
		row.signals = commit ? row.ownSignals : row.signals;
		row.own = null;
		row.transaction = null;
		notifyAll();
	}

	private static final class Row {

		private @Nullable InMemorySaga committed;

		private @Nullable Thread transaction;

		private @Nullable InMemorySaga own;

		private Map<String, InMemorySignal> signals = Map.of();

		private Map<String, InMemorySignal> ownSignals = Map.of();

	}

	/**
	 * A signal of a saga, or that it waits for one.
	 *
	 * @param sent the signal, or {@code null} if it was not sent
	 * @param read whether the saga has read it
	 * @param expired whether the saga does not wait for it any more
	 * @param expiresAt when it is removed if there is no saga
	 */
	record InMemorySignal(@Nullable Signal sent, boolean read, boolean expired, Instant expiresAt) {
	}

	private final class End implements TransactionSynchronization {

		private final Row row;

		End(Row row) {
			this.row = row;
		}

		@Override
		public void afterCompletion(int status) {
			end(this.row, status == STATUS_COMMITTED);
		}

	}

	/**
	 * One version of the rows of a saga.
	 */
	static final class InMemorySaga {

		final IdempotencyKey id;

		final String name;

		final Fingerprint fingerprint;

		final @Nullable String traceparent;

		Instant createdAt;

		Instant deadline;

		SagaStatus status;

		@Nullable SagaStatus haltedIn;

		long epoch;

		int steps;

		int attempts;

		int incompatibleRuns;

		@Nullable String process;

		@Nullable Instant due;

		byte @Nullable [] arguments;

		byte @Nullable [] result;

		@Nullable String reason;

		@Nullable String haltReason;

		@Nullable String waitsFor;

		Map<String, Step> journal = new LinkedHashMap<>();

		InMemorySaga(NewSaga saga, Instant now) {
			this.id = saga.id();
			this.epoch = saga.owner().epoch();
			this.name = saga.name();
			this.fingerprint = saga.fingerprint();
			this.traceparent = saga.traceparent();
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
			this.traceparent = other.traceparent;
			this.createdAt = other.createdAt;
			this.deadline = other.deadline;
			this.status = other.status;
			this.haltedIn = other.haltedIn;
			this.epoch = other.epoch;
			this.steps = other.steps;
			this.attempts = other.attempts;
			this.incompatibleRuns = other.incompatibleRuns;
			this.process = other.process;
			this.due = other.due;
			this.arguments = other.arguments;
			this.result = other.result;
			this.reason = other.reason;
			this.haltReason = other.haltReason;
			this.waitsFor = other.waitsFor;
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

		void lease(Duration time, Instant now) {
			this.due = now.plus(time);
		}

		/**
		 * Releases the saga for some time, at most until its deadline.
		 */
		void release(Duration delay, Instant now) {
			Instant end = now.plus(delay);
			boolean limited = this.status != SagaStatus.COMPENSATING && end.isAfter(this.deadline);
			this.due = limited ? this.deadline : end;
			this.process = null;
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
					this.incompatibleRuns, this.fingerprint, this.arguments, this.result, why,
					(this.due != null) ? Duration.between(now, this.due) : Duration.ZERO,
					Duration.between(this.createdAt, now), this.createdAt, this.deadline, waits(), this.traceparent,
					steps, null);
		}

		private @Nullable String waits() {
			return (this.process == null && this.status == SagaStatus.EXECUTING) ? this.waitsFor : null;
		}

		static @Nullable String cut(@Nullable String text) {
			return SagaStore.text(text);
		}

		OperatedSaga operated(Instant now, List<OperatedStep> shown) {
			boolean halted = this.status == SagaStatus.HALTED;
			Duration left = (this.due == null || this.due.isBefore(now)) ? Duration.ZERO
					: Duration.between(now, this.due);
			return new OperatedSaga(new SagaOwner(this.id, this.epoch), this.name, this.status, this.haltedIn,
					halted ? this.due : null, this.haltReason, this.reason, this.process, halted ? null : left,
					this.attempts, this.createdAt, this.deadline, waits(), shown);
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

}
