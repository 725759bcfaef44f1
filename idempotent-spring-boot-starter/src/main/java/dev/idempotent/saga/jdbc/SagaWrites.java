package dev.idempotent.saga.jdbc;

import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;

/**
 * Writes the row of a saga and the rows of its steps. The steps are written only if the
 * saga was inserted, or its row meets a condition: in one statement on PostgreSQL,
 * elsewhere within the transaction of the caller.
 */
final class SagaWrites {

	private static final String COLUMNS = "(id, name, status, epoch, steps, owner, attempts, fingerprint_version, "
			+ "fingerprint_digest, arguments, traceparent, created_at, deadline, due_at) ";

	private static final String STEP_COLUMNS = "(saga_id, name, seq, kind, state, result, reason, refused_undos, "
			+ "call_identity, begun_at, compensating_at, ended_at) ";

	private static final String ENTRY = "(cast(? as varchar), cast(? as integer), cast(? as varchar), "
			+ "cast(? as varchar), cast(? as bytea), cast(? as varchar), cast(? as integer), " + "cast(? as varchar))";

	private static final Set<StepState> UNENDED = EnumSet.of(StepState.ACTING, StepState.COMPENSATING);

	private static final int UNKNOWN_SAVEPOINT = 1305;

	private final SagaSql sql;

	private final Database database;

	SagaWrites(SagaSql sql) {
		this.sql = sql;
		this.database = sql.database();
	}

	/**
	 * Inserts a saga with its steps unless its id exists, after a limited wait for
	 * another transaction that inserts it.
	 * @param number the number of its steps
	 */
	boolean insert(NewSaga saga, int number, List<JournalEntry> entries, Duration lockTimeout) {
		if (this.database.combinesChanges()) {
			return insertAtOnce(saga, number, entries, lockTimeout);
		}
		boolean inserted = (this.database == Database.MYSQL) ? insertLimited(saga, number, lockTimeout)
				: insertIfAbsent(saga, number);
		if (inserted) {
			writeSteps(saga.id(), entries);
		}
		return inserted;
	}

	/**
	 * Reads no table, so that PostgreSQL may keep the plan.
	 */
	private boolean insertAtOnce(NewSaga saga, int number, List<JournalEntry> entries, Duration lockTimeout) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(Statements.limit(this.sql.longestWait()));
		parameters.add(Math.max(1, lockTimeout.toMillis()) + "ms");
		parameters.addAll(parameters(saga, number));
		parameters.addAll(parameters(entries));
		String sql = Statements.limitedOnPostgres(
				into() + "select " + row() + " from limited on conflict (id) do nothing returning id",
				entries.isEmpty() ? "" : ", written as (" + writeStepsFrom("changed", entries.size()) + ")", "");
		return Statements.query(this.sql.connection(), sql, parameters, (row, count) -> row.getInt(1)).get(0) == 1;
	}

	private boolean insertLimited(NewSaga saga, int number, Duration lockTimeout) {
		String sql = into() + "values (" + row() + ")";
		try {
			return Statements.limitedOnMySql(this.sql.connection(), lockTimeout,
					() -> this.sql.updateById(sql, parameters(saga, number))) == 1;
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

	/**
	 * Fails only in a race: H2 2.4.240 waits in an endless busy loop for a transaction in
	 * which a statement has failed.
	 */
	private boolean insertIfAbsent(NewSaga saga, int number) {
		List<@Nullable Object> parameters = new ArrayList<>(parameters(saga, number));
		parameters.add(saga.id().digest());
		try {
			return this.sql.updateById(into() + "select " + row() + " where not exists (select 1 from "
					+ this.sql.instance() + " where id = ?)", parameters) == 1;
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

	private String into() {
		return "insert into " + this.sql.instance() + " " + COLUMNS;
	}

	private String row() {
		String end = this.database.millisFromNow();
		String values = (this.database == Database.H2)
				? "cast(? as varchar), cast(? as varchar), cast(? as varchar), cast(? as bigint), cast(? as integer), "
						+ "cast(? as varchar), 0, cast(? as integer), cast(? as varchar), "
						+ "cast(? as binary large object), cast(? as varchar), "
				: "?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ";
		return values + this.database.now() + ", " + end + ", " + end;
	}

	private static List<@Nullable Object> parameters(NewSaga saga, int number) {
		long lease = (saga.status() == SagaStatus.STARTED) ? 0 : saga.lease().toMillis();
		return Arrays.<@Nullable Object>asList(saga.id().digest(), saga.name(), saga.status().name(),
				saga.owner().epoch(), number, saga.process(), saga.fingerprint().version(), saga.fingerprint().digest(),
				saga.arguments(), saga.traceparent(), saga.timeout().toMillis(), lease);
	}

	/**
	 * Updates the row and writes entries.
	 * @return {@code false} if the row does not meet the condition
	 */
	boolean write(Update update, List<JournalEntry> entries) {
		return write(update, entries, false);
	}

	/**
	 * Updates the row, writes entries without their results and removes all other
	 * results.
	 * @return {@code false} if the row does not meet the condition
	 */
	boolean end(Update update, List<JournalEntry> entries) {
		List<JournalEntry> empty = entries.stream().map(JournalEntry::withoutResult).toList();
		return write(update, empty, true);
	}

	private boolean write(Update update, List<JournalEntry> entries, boolean end) {
		if (this.database.combinesChanges() && (end || !entries.isEmpty())) {
			return writeAtOnce(update, entries, end);
		}
		// With useAffectedRows, MySQL does not count a row that was equal before.
		boolean fenced = (!update.isEmpty() && this.sql.updateById(statement(update), update.parameters()) > 0)
				|| ((update.isEmpty() || this.database == Database.MYSQL) && meetsStill(update));
		if (fenced && end) {
			this.sql.updateById("update " + this.sql.step() + " set result = null where saga_id = ?",
					List.of(update.id().digest()));
		}
		if (fenced) {
			writeSteps(update.id(), entries);
		}
		return fenced;
	}

	private String statement(Update update) {
		return (update.isEmpty() ? "select id from " + this.sql.instance()
				: "update " + this.sql.instance() + " set " + update.assignments()) + update.where();
	}

	/**
	 * A transaction sees the row as it has written it, or after a rollback as it was
	 * before. On MySQL it may have written nothing, and its snapshot may be older.
	 */
	private boolean meetsStill(Update update) {
		String lock = (this.database == Database.MYSQL) ? " for update" : "";
		return this.sql.existsById("select 1 from " + this.sql.instance() + update.where() + lock,
				update.conditionParameters().toArray());
	}

	private boolean writeAtOnce(Update update, List<JournalEntry> entries, boolean end) {
		List<@Nullable Object> parameters = new ArrayList<>(update.parameters());
		parameters.addAll(parameters(entries));
		if (update.isEmpty()) {
			return this.sql.updateById(
					"with fenced as (" + statement(update) + ") " + writeStepsFrom("fenced", entries.size()),
					parameters) > 0;
		}
		StringBuilder sql = new StringBuilder("with fenced as (").append(statement(update)).append(" returning id)");
		if (!entries.isEmpty()) {
			sql.append(", written as (").append(writeStepsFrom("fenced", entries.size())).append(')');
		}
		if (end) {
			// Uses the id itself: a join could read all steps.
			sql.append(", emptied as (update ").append(this.sql.step());
			sql.append(" set result = null where saga_id = ? and result is not null and exists (select 1 from fenced)");
			parameters.add(update.id().digest());
			for (JournalEntry entry : entries) {
				sql.append(" and seq <> ?");
				parameters.add(entry.number());
			}
			sql.append(')');
		}
		return this.sql.existsById(sql.append(" select 1 from fenced").toString(), parameters.toArray());
	}

	/**
	 * A statement of PostgreSQL that inserts or replaces entries.
	 * @param source a table expression with the id of the saga; without rows, nothing is
	 * written
	 */
	private String writeStepsFrom(String source, int entries) {
		String now = this.database.now();
		return "insert into " + this.sql.step() + " as recorded " + STEP_COLUMNS + "select " + source
				+ ".id, entry.name, entry.seq, entry.kind, entry.state, entry.result, entry.reason, entry.refused_undos, "
				+ "entry.call_identity, " + now + ", case when entry.state = 'COMPENSATING' then " + now
				+ " end, case when entry.state not in ('ACTING', 'COMPENSATING') then " + now + " end from " + source
				+ ", (values " + String.join(", ", Collections.nCopies(entries, ENTRY))
				+ ") as entry (name, seq, kind, state, result, reason, refused_undos, call_identity) "
				+ "on conflict (saga_id, seq) do update set state = excluded.state, result = excluded.result, "
				+ "reason = excluded.reason, compensating_at = case when excluded.refused_undos = "
				+ "recorded.refused_undos then coalesce(recorded.compensating_at, excluded.compensating_at) end, "
				+ "refused_undos = excluded.refused_undos, call_identity = excluded.call_identity, "
				+ "ended_at = excluded.ended_at";
	}

	/**
	 * The parameters of the entries in {@link #writeStepsFrom}.
	 */
	private static List<@Nullable Object> parameters(List<JournalEntry> entries) {
		List<@Nullable Object> parameters = new ArrayList<>();
		for (JournalEntry entry : entries) {
			parameters.addAll(parameters(entry));
		}
		return parameters;
	}

	/**
	 * Inserts or replaces entries on other databases.
	 */
	private void writeSteps(IdempotencyKey saga, List<JournalEntry> entries) {
		for (JournalEntry entry : entries) {
			if (this.database == Database.MYSQL) {
				insertStep(saga, entry,
						" on duplicate key update state = values(state), "
								+ "result = values(result), reason = values(reason), compensating_at = "
								+ "case when refused_undos = values(refused_undos) then "
								+ "coalesce(compensating_at, values(compensating_at)) end, "
								+ "refused_undos = values(refused_undos), call_identity = values(call_identity), "
								+ "ended_at = values(ended_at)");
			}
			else if (replaceStep(saga, entry) == 0) {
				insertStep(saga, entry, "");
			}
		}
	}

	private void insertStep(IdempotencyKey saga, JournalEntry entry, String otherwise) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(saga.digest());
		parameters.addAll(parameters(entry));
		this.sql.updateById(
				"insert into " + this.sql.step() + " " + STEP_COLUMNS + "values (?, ?, ?, ?, ?, ?, ?, ?, ?, "
						+ this.database.now() + ", " + compensatingAt(entry) + ", " + endedAt(entry) + ")" + otherwise,
				parameters);
	}

	private int replaceStep(IdempotencyKey saga, JournalEntry entry) {
		return this.sql.updateById(
				"update " + this.sql.step() + " set state = ?, result = ?, reason = ?, compensating_at = "
						+ "case when refused_undos = ? then coalesce(compensating_at, " + compensatingAt(entry)
						+ ") end, refused_undos = ?, call_identity = ?, ended_at = " + endedAt(entry)
						+ " where saga_id = ? and seq = ?",
				Arrays.<@Nullable Object>asList(entry.state().name(), entry.result(), SagaStore.text(entry.reason()),
						entry.refusedUndos(), entry.refusedUndos(), entry.storedCall(), saga.digest(), entry.number()));
	}

	private static List<@Nullable Object> parameters(JournalEntry entry) {
		return Arrays.<@Nullable Object>asList(entry.name(), entry.number(), entry.kind().name(), entry.state().name(),
				entry.result(), SagaStore.text(entry.reason()), entry.refusedUndos(), entry.storedCall());
	}

	/**
	 * The time at which the undo of a step in this state begins.
	 */
	private String compensatingAt(JournalEntry entry) {
		return (entry.state() == StepState.COMPENSATING) ? this.database.now() : "null";
	}

	/**
	 * The time at which the action or undo of a step in this state has ended.
	 */
	private String endedAt(JournalEntry entry) {
		return UNENDED.contains(entry.state()) ? "null" : this.database.now();
	}

	/**
	 * Marks the transaction that has locked a saga. MySQL and H2 may commit or roll back
	 * implicitly, after a deadlock or for a statement such as {@code create table}, which
	 * PostgreSQL does not.
	 */
	void mark(IdempotencyKey saga) {
		switch (this.database) {
			case POSTGRESQL -> {
			}
			case MYSQL -> Statements.execute(this.sql.connection(), "savepoint " + markOf(saga));
			case H2 -> Statements.execute(this.sql.connection(), "set @" + markOf(saga) + " = transaction_id()");
		}
	}

	/**
	 * Removes the mark of the transaction.
	 * @return {@code false} if it has ended since it was marked
	 */
	boolean unmark(IdempotencyKey saga) {
		return switch (this.database) {
			case POSTGRESQL -> true;
			case MYSQL -> releaseSavepoint(markOf(saga));
			case H2 -> this.sql.existsById("select 1 where transaction_id() = @" + markOf(saga));
		};
	}

	/**
	 * A savepoint ends with its transaction.
	 */
	private boolean releaseSavepoint(String name) {
		String sql = "release savepoint " + name;
		try (Statement statement = this.sql.connection().createStatement()) {
			statement.execute(sql);
			return true;
		}
		catch (SQLException ex) {
			if (ex.getErrorCode() == UNKNOWN_SAVEPOINT) {
				return false;
			}
			throw Statements.translate(sql, ex);
		}
	}

	private static String markOf(IdempotencyKey saga) {
		return "saga_" + saga.digest();
	}

	/**
	 * An update of the row of a saga.
	 *
	 * @param id the id
	 * @param assignments what it sets; empty for a row that is only read
	 * @param values the parameters of the assignments
	 * @param condition the condition besides the id
	 * @param operands the parameters of the condition
	 */
	record Update(IdempotencyKey id, String assignments, List<? extends @Nullable Object> values, String condition,
			List<?> operands) {

		boolean isEmpty() {
			return this.assignments.isEmpty();
		}

		String where() {
			return " where id = ? and " + this.condition;
		}

		List<@Nullable Object> parameters() {
			List<@Nullable Object> parameters = new ArrayList<>(this.values);
			parameters.addAll(conditionParameters());
			return parameters;
		}

		List<Object> conditionParameters() {
			List<Object> parameters = new ArrayList<>();
			parameters.add(this.id.digest());
			parameters.addAll(this.operands);
			return parameters;
		}

	}

}
