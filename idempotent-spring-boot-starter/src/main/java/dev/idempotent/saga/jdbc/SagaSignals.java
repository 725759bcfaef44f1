package dev.idempotent.saga.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.jdbc.SagaWrites.Update;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore.Signal;
import dev.idempotent.saga.store.SagaStore.SignalReceipt;
import dev.idempotent.saga.store.SagaStore.Wait;
import dev.idempotent.saga.store.SagaStore.WaitEnd;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;

/**
 * Signals of sagas and the waits for them, within the transaction of the caller.
 * <p>
 * The row of a signal exists once for each saga and name, whether the saga waits for it
 * first or it is sent first, and whoever comes second waits for the transaction of the
 * first one. So a saga either finds the signal when it begins or ends to wait, or the
 * sender finds that the saga waits. Both lock this row before the saga's row.
 */
final class SagaSignals {

	/**
	 * How often the row is inserted by one transaction and removed by another before it
	 * is locked.
	 */
	private static final int MOST_ATTEMPTS = 5;

	/**
	 * How many names of signals that nobody has read are told.
	 */
	private static final int MOST_UNREAD = 5;

	/**
	 * How much longer the row of a wait is kept than the wait may last.
	 */
	private static final Duration MARGIN = Duration.ofDays(1);

	private static final long MICROS_PER_MILLI = 1000;

	private static final Logger logger = LoggerFactory.getLogger(SagaSignals.class);

	private final SagaSql sql;

	private final Database database;

	SagaSignals(SagaSql sql) {
		this.sql = sql;
		this.database = sql.database();
	}

	/**
	 * Ends a wait, or releases the saga until it ends.
	 */
	WaitEnd endWait(SagaOwner owner, int steps, Wait wait, Duration lease) {
		Row row = wait.isForSignal() ? lock(owner.id(), wait.entry().name(), kept(wait)) : null;
		byte[] content = (row != null && row.state() == State.RECEIVED && row.isOf(owner.generation())) ? row.content()
				: null;
		Duration left = wait.limit().minus(age(owner.id(), wait.entry().number()));
		if (content == null && left.compareTo(Duration.ZERO) > 0) {
			return release(owner, steps, wait, left);
		}
		JournalEntry ended = (content != null) ? wait.arrived(content) : wait.expiredBeside(unread(owner));
		boolean written = new SagaWrites(this.sql).write(
				new Update(owner.id(),
						"steps = ?, attempts = 0, unfit = 0, waits_for = null, due_at = " + this.sql.lease(),
						List.<Object>of(steps, lease.toMillis()), isRun(), List.<Object>of(owner.epoch(), steps)),
				List.of(ended));
		if (!written) {
			return WaitEnd.LOST;
		}
		if (row != null) {
			update(owner.id(), wait.entry().name(), (content != null) ? State.READ : State.EXPIRED, null,
					row.fingerprint(), owner.generation(), kept(wait));
		}
		return new WaitEnd(ended, null);
	}

	private WaitEnd release(SagaOwner owner, int steps, Wait wait, Duration left) {
		String name = wait.entry().name();
		boolean released = new SagaWrites(this.sql).write(
				new Update(owner.id(),
						"owner = null, attempts = 0, unfit = 0, waits_for = ?, due_at = " + this.sql.delay(),
						List.<Object>of(name, left.toMillis()), isRun(), List.<Object>of(owner.epoch(), steps)),
				List.of());
		if (!released) {
			return WaitEnd.LOST;
		}
		if (wait.isForSignal()) {
			update(owner.id(), name, State.AWAITED, null, null, owner.generation(), kept(wait));
		}
		Duration due = this.sql
			.queryById(
					"select " + this.database.microsUntil("due_at") + " from " + this.sql.instance() + " where id = ?",
					List.of(owner.id().digest()), (row, number) -> Duration.of(row.getLong(1), ChronoUnit.MICROS))
			.get(0);
		return new WaitEnd(null, due);
	}

	/**
	 * The row of a signal is deleted with its saga, and looked at before only if the saga
	 * does not exist.
	 */
	private static Duration kept(Wait wait) {
		return wait.limit().plus(MARGIN);
	}

	private String isRun() {
		return "epoch = ? and " + SagaSql.UNINDEXED_STATUS + " = 'EXECUTING' and steps <= ?"
				+ this.sql.inTime(SagaStatus.EXECUTING);
	}

	private Duration age(IdempotencyKey saga, int number) {
		return this.sql
			.queryById(
					"select " + this.database.millisSince("begun_at") + " from " + this.sql.step()
							+ " where saga_id = ? and seq = ?",
					List.<Object>of(saga.digest(), number), (row, count) -> Duration.ofMillis(row.getLong(1)))
			.get(0);
	}

	private List<String> unread(SagaOwner owner) {
		return this.sql.queryById("select name from " + this.sql.signal()
				+ " where saga_id = ? and state = 'RECEIVED' and (generation is null or generation = ?) order by name limit "
				+ MOST_UNREAD, List.<Object>of(owner.id().digest(), owner.generation()),
				(row, number) -> row.getString(1));
	}

	/**
	 * Keeps a signal, and makes the saga due if it waits for it.
	 */
	SignalReceipt signal(Signal signal) {
		SagaTarget before = target(signal.saga(), "");
		Row row = (before != null && before.isLate()) ? find(signal.saga(), signal.name(), "")
				: lock(signal.saga(), signal.name(), signal.retention());
		// What was read before the lock may be older than what the lock has waited for.
		SagaTarget target = target(signal.saga(), row != null && row.state() == State.AWAITED);
		Long generation = (target != null) ? target.generation() : null;
		if (row != null && row.isSent() && row.isOf(generation)) {
			boolean differs = signal.fingerprint().contradicts(Objects.requireNonNull(row.fingerprint()));
			return new SignalReceipt(differs ? SignalResult.DIFFERENT : SignalResult.DUPLICATE, null);
		}
		if (row == null || isLate(target) || (row.state() == State.EXPIRED && row.isOf(generation))) {
			return new SignalReceipt(SignalResult.TOO_LATE, null);
		}
		boolean woken = row.state() == State.AWAITED && wake(signal.saga());
		if (row.state() == State.AWAITED && !woken && isLate(target(signal.saga(), true))) {
			return new SignalReceipt(SignalResult.TOO_LATE, null);
		}
		update(signal.saga(), signal.name(), State.RECEIVED, signal.content(), signal.fingerprint(),
				(generation != null) ? generation : row.generation(), signal.retention());
		boolean exists = target != null || row.state() == State.AWAITED;
		return new SignalReceipt(exists ? SignalResult.ACCEPTED : SignalResult.EARLY,
				(woken && target != null) ? target.name() : null);
	}

	private static boolean isLate(@Nullable SagaTarget target) {
		return target != null && target.isLate();
	}

	/**
	 * A saga that has an owner is about to look for the signal, and waits for this
	 * transaction.
	 */
	private boolean wake(IdempotencyKey saga) {
		return this.sql.updateById("update " + this.sql.instance() + " set due_at = " + this.database.now()
				+ " where id = ? and owner is null and " + SagaSql.UNINDEXED_STATUS + " = 'EXECUTING' and deadline > "
				+ this.database.now(), List.of(saga.digest())) == 1;
	}

	/**
	 * Moves a saga that waits into the past.
	 */
	boolean expireWait(IdempotencyKey saga) {
		List<Past> times = this.sql.queryById(
				"select " + this.database.microsUntil("due_at") + " as due, " + this.database.microsUntil("deadline")
						+ " as deadline, " + this.database.microsUntil("created_at") + " as created from "
						+ this.sql.instance() + " where id = ? and owner is null and waits_for is not null and "
						+ SagaSql.UNINDEXED_STATUS + " = 'EXECUTING' for update",
				List.of(saga.digest()), Past::new);
		for (Past time : times) {
			String then = this.database.millisFromNow();
			this.sql.updateById(
					"update " + this.sql.instance() + " set due_at = " + then + ", deadline = " + then
							+ ", created_at = " + then + " where id = ?",
					List.<Object>of(0L, time.before(time.deadline()), time.before(time.created()), saga.digest()));
			this.sql
				.queryById(
						"select seq, " + this.database.microsUntil("begun_at") + " as begun from " + this.sql.step()
								+ " where saga_id = ?",
						List.of(saga.digest()), (row, number) -> List.of(row.getLong("begun"), row.getLong("seq")))
				.forEach((step) -> this.sql.updateById(
						"update " + this.sql.step() + " set begun_at = " + then + " where saga_id = ? and seq = ?",
						List.<Object>of(time.before(step.get(0)), saga.digest(), step.get(1))));
		}
		return !times.isEmpty();
	}

	/**
	 * Finds the saga of a signal as it is now. The snapshot of the transaction may be
	 * older; it counts only for a saga that a transaction of its own has locked. MySQL
	 * would lock the place of a saga that does not exist.
	 * @param exists whether the saga exists, although the snapshot may not have it
	 */
	private @Nullable SagaTarget target(IdempotencyKey saga, boolean exists) {
		SagaTarget snapshot = target(saga, "");
		if (this.database == Database.H2 || (snapshot == null && !exists)) {
			return snapshot;
		}
		// PostgreSQL refuses to lock a row that has changed since the snapshot.
		SagaTarget current = target(saga,
				(this.database == Database.POSTGRESQL) ? " for key share skip locked" : " for update skip locked");
		return (current != null) ? current : snapshot;
	}

	private @Nullable SagaTarget target(IdempotencyKey saga, String lock) {
		return SagaTarget.find(this.sql, saga, lock);
	}

	/**
	 * Returns the row of a signal, which is inserted unless it exists, and locks it.
	 */
	private Row lock(IdempotencyKey saga, String name, Duration kept) {
		for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
			insertUnlessPresent(saga, name, kept);
			Row row = find(saga, name, " for update");
			if (row != null) {
				return row;
			}
		}
		throw new CannotAcquireLockException("The row of a signal is removed again and again");
	}

	private @Nullable Row find(IdempotencyKey saga, String name, String lock) {
		return this.sql
			.queryById(
					"select state, content, fingerprint_version, fingerprint_digest, generation from "
							+ this.sql.signal() + " where saga_id = ? and name = ?" + lock,
					List.of(saga.digest(), name), Row::new)
			.stream()
			.findFirst()
			.orElse(null);
	}

	/**
	 * Locks a row that exists with a change that keeps it: MySQL would otherwise share
	 * the lock with another transaction that wants to change it, too.
	 */
	private void insertUnlessPresent(IdempotencyKey saga, String name, Duration kept) {
		String into = "insert into " + this.sql.signal() + " ";
		String columns = "(saga_id, name, state, changed_at, expires_at) ";
		String times = "'NONE', " + this.database.now() + ", " + this.database.millisFromNow();
		List<Object> parameters = new ArrayList<>(List.of(saga.digest(), name, kept.toMillis()));
		switch (this.database) {
			case POSTGRESQL -> this.sql.updateById(into + "as present " + columns + "values (?, ?, " + times
					+ ") on conflict (saga_id, name) do update set state = present.state", parameters);
			case MYSQL -> this.sql.updateById(
					into + columns + "values (?, ?, " + times + ") on duplicate key update state = state", parameters);
			case H2 ->
				insertOnH2(into + columns + "select cast(? as varchar), cast(? as varchar), " + times, parameters);
		}
	}

	/**
	 * Fails only in a race: see the insert of sagas.
	 */
	private void insertOnH2(String select, List<Object> parameters) {
		parameters.addAll(List.of(parameters.get(0), parameters.get(1)));
		try {
			this.sql.updateById(select + " where not exists (select 1 from " + this.sql.signal()
					+ " where saga_id = ? and name = ?)", parameters);
		}
		catch (DuplicateKeyException ex) {
			// Another transaction has inserted it, and has committed.
		}
	}

	private void update(IdempotencyKey saga, String name, State state, byte @Nullable [] content,
			@Nullable Fingerprint fingerprint, @Nullable Long generation, Duration kept) {
		int unused = this.sql.updateById(
				"update " + this.sql.signal() + " set state = ?, content = ?, fingerprint_version = ?, "
						+ "fingerprint_digest = ?, generation = ?, changed_at = " + this.database.now()
						+ ", expires_at = " + this.database.millisFromNow() + " where saga_id = ? and name = ?",
				Arrays.<@Nullable Object>asList(state.name(), content,
						(fingerprint != null) ? fingerprint.version() : null,
						(fingerprint != null) ? fingerprint.digest() : null, generation, kept.toMillis(), saga.digest(),
						name));
	}

	/**
	 * Deletes signals that no saga has come for, and keeps the signals of sagas that
	 * exist, with which they are deleted.
	 * @param kept how long these are kept
	 * @return how many were deleted
	 */
	int sweep(int limit, Duration kept) {
		List<Swept> expired = this.sql.query(
				"select saga_id, name, state from " + this.sql.signal() + " where expires_at <= "
						+ this.database.nowForIndexes() + " order by expires_at limit ? for update skip locked",
				List.of(limit), (row, number) -> new Swept(row.getString(1), row.getString(2), row.getString(3)));
		int deleted = 0;
		int unread = 0;
		for (Swept signal : expired) {
			if (this.sql.existsById("select 1 from " + this.sql.instance() + " where id = ?", signal.saga())) {
				this.sql.updateById(
						"update " + this.sql.signal() + " set expires_at = " + this.database.millisFromNow()
								+ " where saga_id = ? and name = ?",
						List.<Object>of(kept.toMillis(), signal.saga(), signal.name()));
			}
			else {
				deleted += this.sql.updateById("delete from " + this.sql.signal() + " where saga_id = ? and name = ?",
						List.of(signal.saga(), signal.name()));
				unread += signal.state().equals(State.RECEIVED.name()) ? 1 : 0;
			}
		}
		if (unread > 0) {
			logger
				.warn("{} signals were deleted for which no saga has come within idempotent.saga.retention. Check that "
						+ "their senders use the name and the key of the saga, of the same type", unread);
		}
		return deleted;
	}

	/**
	 * A signal whose time has come to be deleted.
	 */
	private record Swept(String saga, String name, String state) {
	}

	/**
	 * The state of the row of a signal. Stored by name.
	 */
	private enum State {

		/**
		 * Neither sent nor awaited.
		 */
		NONE,

		/**
		 * The saga waits for it.
		 */
		AWAITED,

		/**
		 * It was sent, and the saga has not read it.
		 */
		RECEIVED,

		/**
		 * The saga has read it.
		 */
		READ,

		/**
		 * The saga has waited for it, and does not any more.
		 */
		EXPIRED

	}

	/**
	 * The row of a signal.
	 *
	 * @param generation the generation of the saga, or {@code null} if it was sent before
	 * the saga existed
	 */
	@SuppressWarnings("ArrayRecordComponent")
	private record Row(State state, byte @Nullable [] content, @Nullable Fingerprint fingerprint,
			@Nullable Long generation) {

		Row(ResultSet row, int number) throws SQLException {
			this(State.valueOf(row.getString("state")), row.getBytes("content"), fingerprint(row),
					(row.getObject("generation") != null) ? row.getLong("generation") : null);
		}

		private static @Nullable Fingerprint fingerprint(ResultSet row) throws SQLException {
			String digest = row.getString("fingerprint_digest");
			return (digest != null) ? new Fingerprint(row.getInt("fingerprint_version"), digest) : null;
		}

		boolean isSent() {
			return this.state == State.RECEIVED || this.state == State.READ;
		}

		/**
		 * Returns whether it is not one of an earlier saga with the same id.
		 */
		boolean isOf(@Nullable Long expected) {
			return this.generation == null || expected == null || this.generation.equals(expected);
		}

	}

	/**
	 * The times of a saga that waits, in microseconds from now.
	 */
	private record Past(long due, long deadline, long created) {

		Past(ResultSet row, int number) throws SQLException {
			this(row.getLong("due"), row.getLong("deadline"), row.getLong("created"));
		}

		/**
		 * Returns a time by as much earlier as the wait lasts, in milliseconds from now.
		 * Both are rounded, so that the wait is over.
		 */
		long before(long time) {
			return Math.floorDiv(time, MICROS_PER_MILLI) - Math.max(0, -Math.floorDiv(-this.due, MICROS_PER_MILLI));
		}

	}

}
