package dev.idempotent.saga.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.InMemorySagaRows.InMemorySaga;
import dev.idempotent.saga.engine.InMemorySagaRows.InMemorySignal;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.StoredSaga;
import org.jspecify.annotations.Nullable;

/**
 * The journal of sagas in its simplest form: the model for other stores, and the store of
 * tests without a database. Works in the transactions of the thread, by any manager that
 * supports synchronization.
 */
public final class InMemorySagaStore implements SagaStore, SagaAdministration {

	private static final Comparator<InMemorySaga> BY_DUE = Comparator.comparing((saga) -> saga.due,
			Comparator.nullsLast(Comparator.naturalOrder()));

	private final InMemorySagaRows rows;

	private final InstantSource clock;

	private final Duration lockTimeout;

	/**
	 * Creates an empty store.
	 * @param clock the clock of the database
	 * @param lockTimeout how long an operation waits for the transaction of another
	 * thread
	 */
	public InMemorySagaStore(InstantSource clock, Duration lockTimeout) {
		this(clock, lockTimeout, new InMemorySagaRows());
	}

	private InMemorySagaStore(InstantSource clock, Duration lockTimeout, InMemorySagaRows rows) {
		this.clock = clock;
		this.rows = rows;
		this.lockTimeout = lockTimeout;
	}

	/**
	 * Creates a store of the same sagas.
	 */
	public InMemorySagaStore withLockTimeout(Duration other) {
		return new InMemorySagaStore(this.clock, other, this.rows);
	}

	@Override
	public boolean insert(NewSaga saga, List<JournalEntry> entries) {
		InMemorySaga row = new InMemorySaga(saga, now());
		row.write(entries, now());
		row.steps = entries.stream().mapToInt(JournalEntry::number).max().orElse(0);
		return this.rows.insert(row, this.lockTimeout);
	}

	@Override
	public boolean insertInTransaction(NewSaga saga) {
		InMemorySaga row = new InMemorySaga(saga, now());
		row.steps = (saga.status() == SagaStatus.EXECUTING) ? 1 : 0;
		return this.rows.insertInTransaction(row, this.lockTimeout);
	}

	@Override
	public @Nullable StoredSaga find(IdempotencyKey id) {
		InMemorySaga row = this.rows.committed(id);
		return (row != null) ? row.stored(now()) : null;
	}

	@Override
	public @Nullable StoredSaga findInTransaction(IdempotencyKey id) {
		return find(id);
	}

	@Override
	public boolean write(SagaOwner owner, SagaStatus status, int steps, List<JournalEntry> entries, Duration lease) {
		return this.rows.change(owner.id(),
				(row) -> row.steps <= steps && progress(row, owner, status, steps, entries, lease));
	}

	@Override
	public boolean lockInTransaction(SagaOwner owner, SagaStatus status, int steps, Duration lease) {
		return this.rows.changeInTransaction(owner.id(),
				(row) -> row.steps < steps && progress(row, owner, status, steps, List.of(), lease));
	}

	/**
	 * What the manager does not report as committed has no effect here.
	 */
	private boolean progress(InMemorySaga row, SagaOwner owner, SagaStatus status, int steps,
			List<JournalEntry> entries, Duration lease) {
		if (!row.isOwnedBy(owner) || !row.isIn(status, now())) {
			return false;
		}
		row.steps = steps;
		row.attempts = 0;
		row.lease(lease, now());
		row.write(entries, now());
		return true;
	}

	@Override
	public boolean writeInTransaction(SagaOwner owner, int steps, List<JournalEntry> entries, Duration lease) {
		return this.rows.changeInTransaction(owner.id(), (row) -> {
			if (!row.isOwnedBy(owner) || row.steps != steps || !row.status.isOpen()) {
				return false;
			}
			if (!lease.isZero()) {
				row.lease(lease, now());
			}
			row.write(entries, now());
			return true;
		});
	}

	@Override
	public boolean change(SagaOwner owner, StatusChange change, List<JournalEntry> entries) {
		return this.rows.change(owner.id(), (row) -> row.isOwnedBy(owner)
				&& (row.status == change.to() || (isAllowed(row, change) && apply(row, change, entries))));
	}

	private boolean isAllowed(InMemorySaga row, StatusChange change) {
		boolean inTime = change.from() != SagaStatus.EXECUTING || change.to() == SagaStatus.COMPENSATING
				|| row.deadline.isAfter(now());
		return row.status == change.from() && inTime;
	}

	private boolean apply(InMemorySaga row, StatusChange change, List<JournalEntry> entries) {
		row.status = change.to();
		row.result = change.result();
		row.write(entries, now());
		row.due = now().plus(change.due());
		if (change.to() == SagaStatus.HALTED) {
			row.haltedIn = change.from();
			row.haltReason = InMemorySaga.cut(change.reason());
			row.due = now();
		}
		else {
			row.reason = (change.reason() != null) ? InMemorySaga.cut(change.reason()) : row.reason;
			row.attempts = 0;
			if (!change.to().isOpen()) {
				row.end();
			}
		}
		return true;
	}

	@Override
	public boolean release(SagaOwner owner, List<JournalEntry> entries, Duration delay) {
		return this.rows.change(owner.id(), (row) -> {
			if (!row.isOwnedBy(owner) || !row.status.isOpen()) {
				return false;
			}
			row.release(delay, now());
			row.write(entries, now());
			return true;
		});
	}

	@Override
	public boolean releaseIncompatible(SagaOwner owner, Duration delay) {
		return this.rows.change(owner.id(), (row) -> {
			if (!row.isOwnedBy(owner) || !row.status.isOpen()) {
				return false;
			}
			row.incompatibleRuns++;
			row.attempts = Math.max(0, row.attempts - 1);
			row.release(delay, now());
			return true;
		});
	}

	@Override
	public @Nullable StoredSaga takeOver(IdempotencyKey id, String process, Duration lease) {
		List<StoredSaga> taken = takeOver((row) -> row.id.equals(id) && row.isDue(now()), process, lease, 1);
		return taken.isEmpty() ? null : taken.get(0);
	}

	@Override
	public List<StoredSaga> takeOverDue(Collection<String> names, String process, Duration lease, int limit) {
		return takeOver((row) -> row.isDue(now()) && names.contains(row.name), process, lease, limit);
	}

	private List<StoredSaga> takeOver(Predicate<InMemorySaga> condition, String process, Duration lease, int limit) {
		synchronized (this.rows) {
			List<StoredSaga> taken = new ArrayList<>();
			this.rows.unlocked().stream().filter(condition).sorted(BY_DUE).limit(limit).forEach((due) -> {
				this.rows.change(due.id, (row) -> own(row, process, lease));
				taken.add(find(due.id));
			});
			return taken;
		}
	}

	private boolean own(InMemorySaga row, String process, Duration lease) {
		boolean late = row.status != SagaStatus.COMPENSATING && !row.deadline.isAfter(now());
		row.status = (row.status == SagaStatus.COMPENSATING || late) ? SagaStatus.COMPENSATING : SagaStatus.EXECUTING;
		row.epoch++;
		row.attempts = late ? 1 : row.attempts + 1;
		row.process = process;
		row.waitsFor = null;
		row.lease(lease, now());
		return true;
	}

	@Override
	public void renew(List<SagaOwner> owners, Duration lease) {
		synchronized (this.rows) {
			this.rows.unlocked()
				.stream()
				.filter((row) -> owners.contains(new SagaOwner(row.id, row.epoch)))
				.filter((row) -> row.status.isOpen() && row.process != null && !row.isDue(now().minusSeconds(30)))
				.forEach((held) -> this.rows.change(held.id, (row) -> {
					row.lease(lease, now());
					return true;
				}));
		}
	}

	@Override
	public WaitEnd endWait(SagaOwner owner, int steps, Wait wait, Duration lease) {
		return this.rows.with(owner.id(), (row, signals) -> {
			if (row == null || !row.isOwnedBy(owner) || !row.isIn(SagaStatus.EXECUTING, now()) || row.steps > steps) {
				return WaitEnd.LOST;
			}
			String name = wait.entry().name();
			InMemorySignal signal = wait.isForSignal() ? signals.get(name) : null;
			Signal sent = (signal != null) ? signal.sent() : null;
			Instant end = Objects.requireNonNull(row.journal.get(name)).begunAt().plus(wait.limit());
			row.attempts = 0;
			row.incompatibleRuns = 0;
			if (sent == null && end.isAfter(now())) {
				row.waitsFor = name;
				row.release(Duration.between(now(), end), now());
				signals.computeIfAbsent(name, (absent) -> new InMemorySignal(null, false, false, now()));
				return new WaitEnd(null, Duration.between(now(), row.due));
			}
			JournalEntry ended = (sent != null) ? wait.arrived(sent.content()) : wait.expiredBeside(unread(signals));
			row.steps = steps;
			row.waitsFor = null;
			row.lease(lease, now());
			row.write(List.of(ended), now());
			signals.put(name, new InMemorySignal(sent, true, sent == null, now()));
			return new WaitEnd(ended, null);
		});
	}

	private static List<String> unread(Map<String, InMemorySignal> signals) {
		return signals.entrySet()
			.stream()
			.filter((signal) -> signal.getValue().sent() != null && !signal.getValue().read())
			.map(Map.Entry::getKey)
			.sorted()
			.toList();
	}

	@Override
	public SignalReceipt signal(Signal signal) {
		return this.rows.with(signal.saga(), (row, signals) -> signal(signal, row, signals));
	}

	@Override
	public SignalReceipt signalInTransaction(Signal signal) {
		return this.rows.withInTransaction(signal.saga(), (row, signals) -> signal(signal, row, signals));
	}

	private SignalReceipt signal(Signal signal, @Nullable InMemorySaga row, Map<String, InMemorySignal> signals) {
		InMemorySignal before = signals.get(signal.name());
		Signal sent = (before != null) ? before.sent() : null;
		if (sent != null) {
			return new SignalReceipt(signal.fingerprint().contradicts(sent.fingerprint()) ? SignalResult.DIFFERENT
					: SignalResult.DUPLICATE, null);
		}
		if ((before != null && before.expired()) || (row != null && isLate(row))) {
			return new SignalReceipt(SignalResult.TOO_LATE, null);
		}
		signals.put(signal.name(), new InMemorySignal(signal, false, false, now().plus(signal.retention())));
		if (row == null) {
			return new SignalReceipt(SignalResult.EARLY, null);
		}
		boolean woken = before != null && row.process == null && row.status == SagaStatus.EXECUTING;
		if (woken) {
			row.due = now();
		}
		return new SignalReceipt(SignalResult.ACCEPTED, woken ? row.name : null);
	}

	/**
	 * Returns whether a saga has ended or will be undone.
	 */
	private boolean isLate(InMemorySaga row) {
		return switch (row.status) {
			case STARTED, EXECUTING -> !row.deadline.isAfter(now());
			case HALTED -> row.haltedIn != SagaStatus.EXECUTING || !row.deadline.isAfter(now());
			case COMPENSATING, COMPLETED, COMPENSATED -> true;
		};
	}

	@Override
	public Cancellation cancel(IdempotencyKey id, String reason) {
		return this.rows.with(id, (row, signals) -> cancel(row, reason));
	}

	@Override
	public Cancellation cancelInTransaction(IdempotencyKey id, String reason) {
		return this.rows.withInTransaction(id, (row, signals) -> cancel(row, reason));
	}

	private Cancellation cancel(@Nullable InMemorySaga row, String reason) {
		if (row == null) {
			return new Cancellation(null, null);
		}
		if (row.status == SagaStatus.HALTED && row.haltedIn == SagaStatus.EXECUTING) {
			row.status = SagaStatus.COMPENSATING;
			row.reason = InMemorySaga.cut(reason);
			leaveHalt(row);
		}
		else if (row.status != SagaStatus.STARTED && row.status != SagaStatus.EXECUTING) {
			return new Cancellation(row.status, null);
		}
		else {
			row.reason = row.deadline.isAfter(now()) ? InMemorySaga.cut(reason) : row.reason;
			row.due = (row.process == null || row.status == SagaStatus.STARTED) ? now() : row.due;
			row.deadline = now().minus(Duration.ofDays(1));
		}
		return new Cancellation(SagaStatus.COMPENSATING, row.name);
	}

	@Override
	public boolean retry(IdempotencyKey id) {
		return this.rows.change(id, this::retry);
	}

	@Override
	public boolean retry(SagaOwner halted) {
		return this.rows.change(halted.id(), (row) -> row.isOwnedBy(halted) && retry(row));
	}

	private boolean retry(InMemorySaga row) {
		if (row.status != SagaStatus.HALTED || row.haltedIn == null) {
			return false;
		}
		row.status = row.haltedIn;
		leaveHalt(row);
		row.forgetCalls();
		return true;
	}

	private void leaveHalt(InMemorySaga row) {
		row.haltedIn = null;
		row.haltReason = null;
		row.process = null;
		row.attempts = 0;
		row.incompatibleRuns = 0;
		row.epoch++;
		row.due = now();
	}

	@Override
	public boolean abort(IdempotencyKey id, String note) {
		return this.rows.change(id, (row) -> {
			boolean halted = row.status == SagaStatus.HALTED && row.haltedIn == SagaStatus.EXECUTING;
			boolean runs = row.status == SagaStatus.STARTED || row.status == SagaStatus.EXECUTING;
			boolean late = !row.deadline.isAfter(now());
			if (!halted && !(runs && (!late || (row.process != null && !row.isDue(now()))))) {
				return false;
			}
			row.reason = (late && !halted) ? row.reason : InMemorySaga.cut(ABORTED + note);
			row.due = (row.status == SagaStatus.EXECUTING) ? now().minusSeconds(60) : now();
			if (halted) {
				row.status = SagaStatus.COMPENSATING;
				leaveHalt(row);
			}
			else {
				row.deadline = now().minus(Duration.ofDays(1));
			}
			return true;
		});
	}

	@Override
	public boolean close(SagaOwner version, String note) {
		return this.rows.change(version.id(), (row) -> {
			boolean forsaken = row.status.isOpen() && row.isDue(now().minus(FORSAKEN));
			if (!row.isOwnedBy(version) || (row.status != SagaStatus.HALTED && !forsaken)) {
				return false;
			}
			row.status = SagaStatus.COMPENSATED;
			leaveHalt(row);
			row.reason = InMemorySaga.cut(CLOSED + note);
			row.due = now().plus(SagaSamples.RETENTION);
			row.journal.replaceAll((step, stored) -> stored.entry().isToUndo()
					? new InMemorySaga.Step(stored.entry().in(StepState.SKIPPED), stored.begunAt(),
							stored.compensatingAt(), now(), InMemorySaga.cut(note))
					: stored);
			row.end();
			return true;
		});
	}

	@Override
	public boolean skip(IdempotencyKey id, String step, String note) {
		return this.rows.change(id, (row) -> {
			InMemorySaga.Step stored = row.journal.get(step);
			if (row.haltedIn != SagaStatus.COMPENSATING || stored == null
					|| stored.entry().state() == StepState.COMPENSATED || (stored.entry().state() == StepState.SKIPPED
							&& !Objects.equals(InMemorySaga.cut(note), stored.note()))) {
				return false;
			}
			row.journal.put(step, new InMemorySaga.Step(stored.entry().in(StepState.SKIPPED), stored.begunAt(),
					stored.compensatingAt(), now(), InMemorySaga.cut(note)));
			row.epoch++;
			return true;
		});
	}

	@Override
	public boolean expireWait(IdempotencyKey id) {
		return this.rows.change(id, (row) -> {
			if (row.status != SagaStatus.EXECUTING || row.process != null || row.waitsFor == null) {
				return false;
			}
			Duration left = Duration.between(now(), Objects.requireNonNull(row.due));
			row.due = now();
			row.createdAt = row.createdAt.minus(left);
			row.deadline = row.deadline.minus(left);
			row.journal.replaceAll((step, stored) -> new InMemorySaga.Step(stored.entry(), stored.begunAt().minus(left),
					stored.compensatingAt(), stored.endedAt(), stored.note()));
			return true;
		});
	}

	@Override
	public @Nullable OperatedSaga inspect(IdempotencyKey id) {
		InMemorySaga row = this.rows.committed(id);
		return (row != null) ? row.operated(now(), row.operatedSteps()) : null;
	}

	@Override
	public Page list(@Nullable SagaStatus status, @Nullable String name, @Nullable String after, int limit) {
		boolean ended = status == SagaStatus.COMPLETED || status == SagaStatus.COMPENSATED;
		Comparator<InMemorySaga> order = Comparator.comparing((InMemorySaga row) -> row.status == SagaStatus.HALTED)
			.thenComparing(ended ? BY_DUE.reversed() : BY_DUE)
			.thenComparing((row) -> row.id.digest());
		List<InMemorySaga> page = this.rows.committed()
			.stream()
			.filter((row) -> (status == null) ? !hasEnded(row) : row.status == status)
			.filter((row) -> name == null || row.name.equals(name))
			.sorted(order)
			.dropWhile((row) -> after != null && !row.id.digest().equals(after))
			.skip((after != null) ? 1 : 0)
			.limit(limit)
			.toList();
		return new Page(page.stream().map((row) -> row.operated(now(), List.of())).toList(),
				(page.size() == limit) ? page.get(limit - 1).id.digest() : null);
	}

	@Override
	public Counts count(Collection<String> served, int limit) {
		Map<SagaStatus, Integer> counts = new EnumMap<>(SagaStatus.class);
		List<InMemorySaga> unended = this.rows.committed().stream().filter((row) -> !hasEnded(row)).toList();
		unended.forEach((row) -> counts.merge(row.status, 1, Integer::sum));
		boolean exact = counts.values().stream().allMatch((count) -> count <= limit);
		counts.replaceAll((status, count) -> Math.min(count, limit));
		long unserved = unended.stream().filter((row) -> row.status.isOpen() && !served.contains(row.name)).count();
		Duration oldest = unended.stream()
			.filter((row) -> row.isDue(now()))
			.map((row) -> Duration.between(row.due, now()))
			.max(Comparator.naturalOrder())
			.orElse(Duration.ZERO);
		int waiting = (int) unended.stream().filter((row) -> row.operated(now(), List.of()).waitsFor() != null).count();
		return new Counts(counts, Math.min(waiting, limit), (int) unserved, oldest, exact);
	}

	/**
	 * Deletes the ended sagas whose retention has ended.
	 * @return how many
	 */
	public int sweep() {
		List<InMemorySaga> over = this.rows.unlocked()
			.stream()
			.filter((row) -> hasEnded(row) && row.due != null && !row.due.isAfter(now()))
			.toList();
		over.forEach((row) -> this.rows.remove(row.id));
		this.rows.removeSignals(now());
		return over.size();
	}

	private static boolean hasEnded(InMemorySaga row) {
		return row.status == SagaStatus.COMPLETED || row.status == SagaStatus.COMPENSATED;
	}

	private Instant now() {
		return this.clock.instant();
	}

}
