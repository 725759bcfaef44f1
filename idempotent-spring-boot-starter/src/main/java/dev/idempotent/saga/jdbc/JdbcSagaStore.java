package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.RoutingDataSources;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaStore;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import dev.idempotent.saga.jdbc.SagaWrites.Update;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataRetrievalFailureException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;

/**
 * Stores sagas in tables of the application's database: PostgreSQL, MySQL, MariaDB or H2.
 * Operations that commit by themselves use their own connection, also during a
 * transaction of the calling thread.
 */
public final class JdbcSagaStore implements SagaStore {

	private static final Logger logger = LoggerFactory.getLogger(JdbcSagaStore.class);

	private static final String HAS_STATUS = "epoch = ? and " + SagaSql.UNINDEXED_STATUS + " = ?";

	private static final List<String> INSTANCE = List.of("id", "name", "status", "halted_in", "epoch", "steps", "owner",
			"due_at", "deadline", "attempts", "unfit", "fingerprint_version", "fingerprint_digest", "arguments",
			"result", "reason", "halt_reason", "created_at");

	private static final List<String> STEP = List.of("saga_id", "name", "seq", "kind", "state", "result", "reason",
			"note", "refused_undos", "begun_at", "compensating_at", "ended_at");

	private final SagaDatabase database;

	private final SagaTables tables;

	private final Duration lockTimeout;

	/**
	 * Creates a store on tables that one of the scripts in {@code dev/idempotent/schema}
	 * has created.
	 * @param dataSource the data source of the application's transactions
	 * @param tables the tables
	 * @param lockTimeout how long an insert waits for another transaction that inserts
	 * the same id; MySQL waits for whole seconds, and H2 uses the lock timeout of the
	 * connection
	 */
	public JdbcSagaStore(DataSource dataSource, SagaTables tables, Duration lockTimeout) {
		this.database = new SagaDatabase(dataSource);
		this.tables = tables;
		this.lockTimeout = lockTimeout;
	}

	/**
	 * The resource to which a transaction must be bound for the operations whose name
	 * ends with {@code InTransaction}.
	 * @return the data source whose connections transaction managers bind
	 */
	public Object transactionResource() {
		return this.database.dataSource();
	}

	/**
	 * Checks the database at startup.
	 * @throws IdempotentConfigurationException if the tables or some of their columns are
	 * missing, or the data source routes to several databases
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public void verify() {
		String router = RoutingDataSources.find(this.database.dataSource());
		if (router != null) {
			throw new IdempotentConfigurationException(
					"Sagas are stored in the database of the application's transactions, and the DataSource " + router
							+ " routes to several databases: only those in the default one would be taken over.",
					RoutingDataSources.REMEDY + ".", null);
		}
		requireColumns(this.tables.instance(), INSTANCE);
		requireColumns(this.tables.step(), STEP);
	}

	private void requireColumns(String table, List<String> columns) {
		Database kind = this.database.kind();
		try {
			Set<String> missing = new LinkedHashSet<>(columns);
			missing.removeAll(this.database.runStatement((connection, unused) -> columns(connection, table)));
			if (!missing.isEmpty()) {
				throw new IdempotentConfigurationException(
						"The table " + table + " of sagas lacks the columns " + String.join(", ", missing) + ".",
						howToCreateTables(kind), null);
			}
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw new IdempotentConfigurationException(
					"The database lacks the table " + table + " of sagas, or it is not readable.",
					howToCreateTables(kind), ex);
		}
	}

	private static Set<String> columns(Connection connection, String table) {
		String sql = "select * from " + table + " where 1 = 0";
		try (PreparedStatement statement = connection.prepareStatement(sql);
				ResultSet rows = statement.executeQuery()) {
			ResultSetMetaData metadata = rows.getMetaData();
			Set<String> columns = new LinkedHashSet<>();
			for (int i = 1; i <= metadata.getColumnCount(); i++) {
				columns.add(metadata.getColumnName(i).toLowerCase(Locale.ROOT));
			}
			return columns;
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private static String howToCreateTables(Database kind) {
		return "Run the script " + Database.script(kind.name().toLowerCase(Locale.ROOT), "saga")
				+ " (it is in the jar), or set idempotent.saga.initialize-schema=always.";
	}

	@Override
	public boolean insert(NewSaga saga, List<JournalEntry> entries) {
		int number = entries.stream().mapToInt(JournalEntry::number).max().orElse(0);
		return this.database.run((connection, kind) -> new SagaWrites(connection, kind, this.tables).insert(saga,
				number, entries, this.lockTimeout));
	}

	@Override
	public boolean insertInTransaction(NewSaga saga) {
		int number = (saga.status() == SagaStatus.EXECUTING) ? 1 : 0;
		return this.database.join((connection, kind) -> {
			SagaWrites writes = new SagaWrites(connection, kind, this.tables);
			boolean inserted = writes.insert(saga, number, List.of(), this.lockTimeout);
			if (inserted && number > 0) {
				writes.mark(saga.id());
			}
			return inserted;
		});
	}

	@Override
	public @Nullable StoredSaga find(IdempotencyKey id) {
		return this.database.runStatement((connection, kind) -> new SagaReader(kind, this.tables).find(connection, id));
	}

	@Override
	public boolean write(SagaOwner owner, SagaStatus status, int steps, List<JournalEntry> entries, Duration lease) {
		return this.database.run((connection, kind) -> new SagaWrites(connection, kind, this.tables)
			.write(progress(kind, owner, status, steps, " and steps <= ?", lease), entries));
	}

	@Override
	public boolean lockInTransaction(SagaOwner owner, SagaStatus status, int steps, Duration lease) {
		return this.database.join((connection, kind) -> {
			SagaWrites writes = new SagaWrites(connection, kind, this.tables);
			boolean locked = writes.write(progress(kind, owner, status, steps, " and steps < ?", lease), List.of());
			if (locked) {
				writes.mark(owner.id());
			}
			return locked;
		});
	}

	private static Update progress(Database kind, SagaOwner owner, SagaStatus status, int steps, String isNext,
			Duration lease) {
		return new Update(owner.id(), "steps = ?, attempts = 0, due_at = " + SagaSql.lease(kind),
				List.<Object>of(steps, lease.toMillis()), HAS_STATUS + isNext + SagaSql.inTime(status, kind),
				List.<Object>of(owner.epoch(), status.name(), steps));
	}

	@Override
	public boolean writeInTransaction(SagaOwner owner, int steps, List<JournalEntry> entries, Duration lease) {
		return this.database.join((connection, kind) -> {
			SagaWrites writes = new SagaWrites(connection, kind, this.tables);
			return writes.unmark(owner.id()) && writes.write(locked(kind, owner, steps, lease), entries);
		});
	}

	private static Update locked(Database kind, SagaOwner owner, int steps, Duration lease) {
		return new Update(owner.id(), "due_at = " + SagaSql.lease(kind), List.<Object>of(lease.toMillis()),
				"epoch = ? and steps = ? and " + SagaSql.IS_OPEN, List.<Object>of(owner.epoch(), steps));
	}

	@Override
	public boolean change(SagaOwner owner, StatusChange change, List<JournalEntry> entries) {
		return this.database.run((connection, kind) -> {
			SagaWrites writes = new SagaWrites(connection, kind, this.tables);
			boolean changed = (change.to().isOpen() || change.to() == SagaStatus.HALTED)
					? writes.write(update(kind, owner, change), entries)
					: writes.end(update(kind, owner, change), entries);
			return changed || SagaSql.exists(connection,
					"select 1 from " + this.tables.instance() + " where id = ? and " + HAS_STATUS, owner.id().digest(),
					owner.epoch(), change.to().name());
		});
	}

	private static Update update(Database kind, SagaOwner owner, StatusChange change) {
		boolean inTime = change.from() == SagaStatus.EXECUTING && change.to() == SagaStatus.COMPLETED;
		String condition = HAS_STATUS + (inTime ? " and deadline > " + kind.now() : "");
		List<Object> operands = List.<Object>of(owner.epoch(), change.from().name());
		String reason = SagaStore.text(change.reason());
		if (change.to() == SagaStatus.HALTED) {
			return new Update(owner.id(), "status = ?, halted_in = ?, halt_reason = ?, due_at = null",
					Arrays.asList(change.to().name(), change.from().name(), reason), condition, operands);
		}
		return new Update(owner.id(),
				"status = ?, result = ?, reason = coalesce(?, reason), due_at = " + kind.millisFromNow()
						+ (change.to().isOpen() ? ", attempts = 0" : ", arguments = null"),
				Arrays.asList(change.to().name(), change.result(), reason, change.due().toMillis()), condition,
				operands);
	}

	@Override
	public boolean release(SagaOwner owner, List<JournalEntry> entries, Duration delay) {
		return this.database.run((connection,
				kind) -> new SagaWrites(connection, kind, this.tables).write(new Update(owner.id(),
						"owner = null, due_at = " + SagaSql.lease(kind), List.of(delay.toMillis()),
						"epoch = ? and " + SagaSql.IS_OPEN, List.<Object>of(owner.epoch())), entries));
	}

	@Override
	public boolean releaseUnfit(SagaOwner owner, Duration delay) {
		return this.database.run((connection,
				kind) -> new SagaWrites(connection, kind, this.tables).write(new Update(owner.id(),
						"owner = null, unfit = unfit + 1, attempts = case when attempts > 0 then "
								+ "attempts - 1 else 0 end, due_at = " + SagaSql.lease(kind),
						List.of(delay.toMillis()), "epoch = ? and " + SagaSql.IS_OPEN, List.<Object>of(owner.epoch())),
						List.of()));
	}

	@Override
	public @Nullable StoredSaga takeOver(IdempotencyKey id, String process, Duration lease) {
		@Nullable StoredSaga taken = this.database
			.run((connection, kind) -> new TakeOvers(connection, kind, this.tables).takeOver(id, process, lease));
		return (taken != null) ? read(taken) : null;
	}

	@Override
	public List<StoredSaga> takeOverDue(Collection<String> names, String process, Duration lease, int limit) {
		List<StoredSaga> due = names.isEmpty() ? List.of() : this.database.runInTransaction((connection,
				kind) -> new TakeOvers(connection, kind, this.tables).takeOverDue(names, process, lease, limit));
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
		catch (TransientDataAccessException | RecoverableDataAccessException | DataAccessResourceFailureException ex) {
			logger.debug("Saga {} could not be read after it was taken over", taken.owner().id(), ex);
			return null;
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} cannot be read", taken.owner().id(), ex);
			String why = (ex instanceof DataRetrievalFailureException) ? Objects.toString(ex.getMessage())
					: "The stored saga cannot be read: " + ex.getClass().getName();
			return taken.unreadable(why);
		}
	}

	@Override
	public void renew(List<SagaOwner> owners, Duration lease) {
		if (!owners.isEmpty()) {
			boolean unused = this.database.runInTransaction((connection, kind) -> {
				new TakeOvers(connection, kind, this.tables).renew(owners, lease);
				return true;
			});
		}
	}

}
