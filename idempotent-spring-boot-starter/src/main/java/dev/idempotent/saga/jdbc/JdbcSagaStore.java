package dev.idempotent.saga.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.HaltReason;
import dev.idempotent.saga.jdbc.SagaWrites.Update;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.RecordedCall;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.StepKind;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.saga.store.StoredStep;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataRetrievalFailureException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Stores sagas in tables of the application's database: PostgreSQL, MySQL, MariaDB or H2.
 * Operations that commit by themselves use their own connection, also during a
 * transaction of the calling thread.
 */
public final class JdbcSagaStore implements SagaStore {

	private static final Logger logger = LoggerFactory.getLogger(JdbcSagaStore.class);

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

	private static final String HAS_STATUS = "epoch = ? and " + SagaSql.UNINDEXED_STATUS + " = ?";

	private static final String INSTANCE = "id, name, status, halted_in, epoch, steps, owner, due_at, deadline, "
			+ "attempts, unfit, fingerprint_version, fingerprint_digest, arguments, result, reason, halt_reason, "
			+ "waits_for, traceparent, created_at";

	private static final String STEP = "saga_id, name, seq, kind, state, result, reason, note, refused_undos, "
			+ "call_identity, begun_at, " + "compensating_at, ended_at";

	private static final String SIGNAL = "saga_id, name, state, content, fingerprint_version, fingerprint_digest, "
			+ "generation, changed_at, expires_at";

	private static final String COLUMNS = "select s.id, s.name, s.status, s.epoch, s.steps, s.attempts, s.unfit, "
			+ "s.fingerprint_version, s.fingerprint_digest, "
			+ "case when row_number() over (partition by s.id order by t.seq) = 1 then s.arguments end as arguments, "
			+ "s.result, coalesce(s.halt_reason, s.reason) as reason, s.created_at, s.deadline, s.traceparent, "
			+ "case when s.owner is null and s.status = 'EXECUTING' then s.waits_for end as waits_for, t.name as step, t.seq, "
			+ "t.kind, t.state, t.result as step_result, t.reason as step_reason, t.refused_undos, t.call_identity, t.note, ";

	private final SagaDatabase database;

	private final SagaTables tables;

	private final Duration lockTimeout;

	private final Duration maxRun;

	/**
	 * Creates a store on tables that one of the scripts in {@code dev/idempotent/schema}
	 * has created.
	 * @param transactions own transactions on the data source of the application's
	 * @param tablePrefix the common prefix of the names of the tables
	 * @param lockTimeout how long an insert waits for another transaction that inserts
	 * the same id; MySQL waits for whole seconds, and H2 uses the lock timeout of the
	 * connection
	 * @param maxRun how long PostgreSQL keeps the transaction of a step if its host dies
	 */
	public JdbcSagaStore(OwnTransactions transactions, String tablePrefix, Duration lockTimeout, Duration maxRun) {
		this.tables = new SagaTables(tablePrefix);
		this.database = new SagaDatabase(transactions, this.tables);
		this.lockTimeout = lockTimeout;
		this.maxRun = maxRun;
	}

	/**
	 * The resource to which a transaction must be bound for the operations whose name
	 * ends with {@code InTransaction}.
	 * @return the data source whose connections transaction managers bind
	 */
	public DataSource transactionResource() {
		return this.database.dataSource();
	}

	/**
	 * Checks the database at startup.
	 * @throws IdempotentConfigurationException if the tables, some of their columns or
	 * the rights to change them are missing, or the data source routes to several
	 * databases
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public void verify() {
		DatabaseRequirements.requireOneDatabase(this.database.dataSource(),
				"Sagas are stored in the database of the application's transactions",
				"only those in the default one would be taken over", "");
		requireColumns(this.tables.instance(), INSTANCE);
		requireColumns(this.tables.step(), STEP);
		requireColumns(this.tables.signal(), SIGNAL);
	}

	private void requireColumns(String table, String columns) {
		Database kind = this.database.kind();
		try {
			Set<String> missing = this.database.runStatement((sql) -> {
				Set<String> lacking = DatabaseRequirements.missingColumns(sql.connection(), table, columns);
				DatabaseRequirements.requireRights(sql.connection(), table);
				return lacking;
			});
			if (!missing.isEmpty()) {
				throw new IdempotentConfigurationException(
						"The table " + table + " of sagas lacks the columns " + String.join(", ", missing) + ".",
						howToCreateTables(kind));
			}
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw new IdempotentConfigurationException(
					"The database lacks the table " + table + " of sagas, or it is not readable.",
					howToCreateTables(kind), ex);
		}
	}

	private static String howToCreateTables(Database kind) {
		return Database.howToCreateTables(kind.name().toLowerCase(Locale.ROOT), "saga", "idempotent.saga") + ".";
	}

	@Override
	public boolean insert(NewSaga saga, List<JournalEntry> entries) {
		int number = entries.stream().mapToInt(JournalEntry::number).max().orElse(0);
		return this.database.run((sql) -> new SagaWrites(sql).insert(saga, number, entries, this.lockTimeout));
	}

	@Override
	public boolean insertInTransaction(NewSaga saga) {
		int number = (saga.status() == SagaStatus.EXECUTING) ? 1 : 0;
		return this.database.join((sql) -> {
			if (number > 0) {
				sql.limitWaits(this.maxRun);
			}
			SagaWrites writes = new SagaWrites(sql);
			boolean inserted = writes.insert(saga, number, List.of(), this.lockTimeout);
			if (inserted && number > 0) {
				writes.mark(saga.id());
			}
			return inserted;
		});
	}

	/**
	 * Reads a saga with its steps in one statement, and so at one moment.
	 */
	@Override
	public @Nullable StoredSaga find(IdempotencyKey id) {
		return this.database.runStatement((sql) -> find(sql, id));
	}

	@Override
	public @Nullable StoredSaga findInTransaction(IdempotencyKey id) {
		StoredSaga visible = this.database.<@Nullable StoredSaga>join((sql) -> find(sql, id));
		// The snapshot of REPEATABLE READ may be older than the saga.
		return (visible != null) ? visible : find(id);
	}

	private @Nullable StoredSaga find(SagaSql sql, IdempotencyKey id) {
		Database kind = sql.database();
		String select = COLUMNS + kind.microsUntil("s.due_at") + " as due, " + kind.millisSince("s.created_at")
				+ " as age, " + kind.millisSince("t.begun_at") + " as step_age, "
				+ kind.millisSince("t.compensating_at") + " as compensating from " + sql.instance() + " s left join "
				+ sql.step() + " t on t.saga_id = s.id where s.id = ? order by t.seq";
		List<StoredStep> journal = new ArrayList<>();
		return sql.queryById(select, List.of(id.digest()), (row, number) -> {
			readStep(row, journal);
			return saga(row, kind, journal);
		}).stream().findFirst().orElse(null);
	}

	private static StoredSaga saga(ResultSet row, Database kind, List<StoredStep> journal) throws SQLException {
		return new StoredSaga(new SagaOwner(new IdempotencyKey(row.getString("id")), row.getLong("epoch")),
				row.getString("name"), SagaStatus.valueOf(row.getString("status")), row.getInt("steps"),
				row.getInt("attempts"), row.getInt("unfit"),
				new Fingerprint(row.getInt("fingerprint_version"), row.getString("fingerprint_digest")),
				row.getBytes("arguments"), row.getBytes("result"), row.getString("reason"),
				Duration.of(row.getLong("due"), ChronoUnit.MICROS), millis(row, "age"), kind.instant(row, "created_at"),
				kind.instant(row, "deadline"), row.getString("waits_for"), row.getString("traceparent"), journal, null);
	}

	private static void readStep(ResultSet row, List<StoredStep> journal) throws SQLException {
		String name = row.getString("step");
		if (name != null) {
			JournalEntry entry = new JournalEntry(name, row.getInt("seq"), known(StepKind.class, name, "kind", row),
					known(StepState.class, name, "state", row), row.getBytes("step_result"),
					row.getString("step_reason"), row.getInt("refused_undos"),
					RecordedCall.of(row.getString("call_identity")));
			journal.add(
					new StoredStep(entry, millis(row, "step_age"), millis(row, "compensating"), row.getString("note")));
		}
	}

	/**
	 * Reads a constant, which a later version of the application may have written.
	 */
	private static <E extends Enum<E>> E known(Class<E> type, String step, String column, ResultSet row)
			throws SQLException {
		String value = String.valueOf(row.getString(column));
		return Stream.of(type.getEnumConstants())
			.filter((constant) -> constant.name().equals(value))
			.findFirst()
			.orElseThrow(() -> new DataRetrievalFailureException(
					HaltReason.STEP_OF_LATER_VERSION.text(step, column, value)));
	}

	private static Duration millis(ResultSet row, String column) throws SQLException {
		return Duration.ofMillis(Math.max(0, row.getLong(column)));
	}

	@Override
	public boolean write(SagaOwner owner, SagaStatus status, int steps, List<JournalEntry> entries, Duration lease) {
		return this.database.run((sql) -> new SagaWrites(sql)
			.write(progress(sql, owner, status, steps, " and steps <= ?", lease), entries));
	}

	@Override
	public boolean lockInTransaction(SagaOwner owner, SagaStatus status, int steps, Duration lease) {
		return this.database.join((sql) -> {
			sql.limitWaits(this.maxRun);
			SagaWrites writes = new SagaWrites(sql);
			boolean locked = writes.write(progress(sql, owner, status, steps, " and steps < ?", lease), List.of());
			if (locked) {
				writes.mark(owner.id());
			}
			return locked;
		});
	}

	private static Update progress(SagaSql sql, SagaOwner owner, SagaStatus status, int steps, String isNext,
			Duration lease) {
		return new Update(owner.id(), "steps = ?, attempts = 0, due_at = " + sql.keptLease(),
				List.<Object>of(steps, lease.toMillis() * 2 / 3, lease.toMillis()),
				HAS_STATUS + isNext + sql.inTime(status), List.<Object>of(owner.epoch(), status.name(), steps));
	}

	@Override
	public boolean writeInTransaction(SagaOwner owner, int steps, List<JournalEntry> entries, Duration lease) {
		return this.database.join((sql) -> {
			SagaWrites writes = new SagaWrites(sql);
			return writes.unmark(owner.id()) && writes.write(locked(sql, owner, steps, lease), entries);
		});
	}

	private static Update locked(SagaSql sql, SagaOwner owner, int steps, Duration lease) {
		boolean renews = !lease.isZero();
		return new Update(owner.id(), renews ? "due_at = " + sql.lease() : "",
				renews ? List.<Object>of(lease.toMillis()) : List.of(),
				"epoch = ? and steps = ? and " + SagaSql.IS_OPEN, List.<Object>of(owner.epoch(), steps));
	}

	@Override
	public boolean change(SagaOwner owner, StatusChange change, List<JournalEntry> entries) {
		return this.database.run((sql) -> {
			SagaWrites writes = new SagaWrites(sql);
			boolean changed = (change.to().isOpen() || change.to() == SagaStatus.HALTED)
					? writes.write(update(sql, owner, change), entries)
					: writes.end(update(sql, owner, change), entries);
			return changed || sql.existsById("select 1 from " + sql.instance() + " where id = ? and " + HAS_STATUS,
					owner.id().digest(), owner.epoch(), change.to().name());
		});
	}

	private static Update update(SagaSql sql, SagaOwner owner, StatusChange change) {
		boolean inTime = change.from() == SagaStatus.EXECUTING && change.to() != SagaStatus.COMPENSATING;
		String condition = HAS_STATUS + (inTime ? " and deadline > " + sql.database().now() : "");
		List<Object> operands = List.<Object>of(owner.epoch(), change.from().name());
		String reason = SagaStore.text(change.reason());
		if (change.to() == SagaStatus.HALTED) {
			return new Update(owner.id(),
					"status = ?, halted_in = ?, halt_reason = ?, waits_for = null, due_at = " + sql.database().now(),
					Arrays.asList(change.to().name(), change.from().name(), reason), condition, operands);
		}
		return new Update(owner.id(),
				"status = ?, result = ?, reason = coalesce(?, reason), waits_for = null, due_at = "
						+ sql.database().millisFromNow()
						+ (change.to().isOpen() ? ", attempts = 0" : ", arguments = null"),
				Arrays.asList(change.to().name(), change.result(), reason, change.due().toMillis()), condition,
				operands);
	}

	@Override
	public boolean release(SagaOwner owner, List<JournalEntry> entries, Duration delay) {
		return this.database
			.run((sql) -> new SagaWrites(sql).write(new Update(owner.id(), "owner = null, due_at = " + sql.delay(),
					List.of(delay.toMillis()), "epoch = ? and " + SagaSql.IS_OPEN, List.<Object>of(owner.epoch())),
					entries));
	}

	@Override
	public boolean releaseIncompatible(SagaOwner owner, Duration delay) {
		return this.database.run((sql) -> new SagaWrites(sql).write(new Update(owner.id(),
				"owner = null, unfit = unfit + 1, attempts = case when attempts > 0 then "
						+ "attempts - 1 else 0 end, due_at = " + sql.delay(),
				List.of(delay.toMillis()), "epoch = ? and " + SagaSql.IS_OPEN, List.<Object>of(owner.epoch())),
				List.of()));
	}

	@Override
	public @Nullable StoredSaga takeOver(IdempotencyKey id, String process, Duration lease) {
		@Nullable StoredSaga taken = this.database.run((sql) -> new TakeOvers(sql).takeOver(id, process, lease));
		return (taken != null) ? read(taken) : null;
	}

	@Override
	public List<StoredSaga> takeOverDue(Collection<String> names, String process, Duration lease, int limit) {
		List<StoredSaga> due = names.isEmpty() ? List.of()
				: this.database.runInTransaction((sql) -> new TakeOvers(sql).takeOverDue(names, process, lease, limit));
		List<StoredSaga> read = new ArrayList<>();
		for (StoredSaga taken : due) {
			StoredSaga saga = read(taken);
			if (saga != null) {
				read.add(saga);
			}
		}
		return read;
	}

	/**
	 * Reads a saga that was taken over.
	 * @return {@code null} if another process has taken it over since, or the database is
	 * not reachable: then its lease ends
	 */
	private @Nullable StoredSaga read(StoredSaga taken) {
		try {
			StoredSaga saga = find(taken.owner().id());
			return (saga != null && saga.owner().equals(taken.owner())) ? saga : null;
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be read after it was taken over", taken.owner().id(), ex);
			String why = (ex instanceof DataRetrievalFailureException) ? Objects.toString(ex.getMessage())
					: HaltReason.SAGA_NOT_READABLE.text(ex.getClass().getName());
			return (ex instanceof DataAccessException failure && Statements.isTransient(failure)) ? null
					: taken.unreadable(why);
		}
	}

	@Override
	public WaitEnd endWait(SagaOwner owner, int steps, Wait wait, Duration lease) {
		return limited((sql) -> new SagaSignals(sql).endWait(owner, steps, wait, lease));
	}

	/**
	 * A connection would otherwise wait as long as the transaction of a sender or a step
	 * is open.
	 */
	private <T> T limited(Function<SagaSql, T> work) {
		return this.database.runInTransaction((sql) -> {
			sql.limitWaits(LONGEST_WAIT);
			return work.apply(sql);
		});
	}

	@Override
	public SignalReceipt signal(Signal signal) {
		return limited((sql) -> new SagaSignals(sql).signal(signal));
	}

	@Override
	public SignalReceipt signalInTransaction(Signal signal) {
		return this.database.join((sql) -> new SagaSignals(sql).signal(signal));
	}

	@Override
	public Cancellation cancel(IdempotencyKey id, String reason) {
		return limited((sql) -> new SagaCancellation(sql).cancel(id, reason));
	}

	/**
	 * Locks no saga that does not exist: MySQL would lock its place, where others are
	 * inserted.
	 */
	@Override
	public Cancellation cancelInTransaction(IdempotencyKey id, String reason) {
		if (findInTransaction(id) == null) {
			return new Cancellation(null, null);
		}
		Cancellation cancellation = this.database.join((sql) -> new SagaCancellation(sql).cancel(id, reason));
		if (cancellation.status() == null) {
			throw new CannotAcquireLockException("The snapshot of the transaction is older than the saga");
		}
		return cancellation;
	}

	@Override
	public void renew(List<SagaOwner> owners, Duration lease) {
		if (!owners.isEmpty()) {
			boolean unused = this.database.runInTransaction((sql) -> {
				new TakeOvers(sql).renew(owners, lease);
				return true;
			});
		}
	}

}
