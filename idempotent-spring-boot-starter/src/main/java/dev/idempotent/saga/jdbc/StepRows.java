package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.run.SagaStore;
import dev.idempotent.saga.run.SagaStore.JournalEntry;
import org.jspecify.annotations.Nullable;

/**
 * Writes the steps of a saga whose row the caller has locked, or locks in the same
 * statement.
 */
final class StepRows {

	private static final String COLUMNS = "(saga_id, name, seq, kind, state, result, reason, refused_undos, "
			+ "begun_at, compensating_at, ended_at) ";

	private static final String ENTRY = "(cast(? as varchar), cast(? as integer), cast(? as varchar), "
			+ "cast(? as varchar), cast(? as bytea), cast(? as varchar), cast(? as integer))";

	private final Database database;

	private final String table;

	StepRows(Database database, SagaTables tables) {
		this.database = database;
		this.table = tables.step();
	}

	/**
	 * A statement of PostgreSQL that inserts or replaces entries.
	 * @param source a table expression with the id of the saga; without rows, nothing is
	 * written
	 */
	String writeFrom(String source, int entries) {
		String now = this.database.now();
		return "insert into " + this.table + " as recorded " + COLUMNS + "select " + source
				+ ".id, entry.name, entry.seq, entry.kind, entry.state, entry.result, entry.reason, entry.refused_undos, "
				+ now + ", case when entry.state = 'COMPENSATING' then " + now
				+ " end, case when entry.state not in ('ACTING', 'COMPENSATING') then " + now + " end from " + source
				+ ", (values " + String.join(", ", Collections.nCopies(entries, ENTRY))
				+ ") as entry (name, seq, kind, state, result, reason, refused_undos) "
				+ "on conflict (saga_id, seq) do update set state = excluded.state, result = excluded.result, "
				+ "reason = excluded.reason, compensating_at = case when excluded.refused_undos = "
				+ "recorded.refused_undos then coalesce(recorded.compensating_at, excluded.compensating_at) end, "
				+ "refused_undos = excluded.refused_undos, ended_at = excluded.ended_at";
	}

	/**
	 * The parameters of the entries in {@link #writeFrom}.
	 */
	static List<@Nullable Object> parameters(List<JournalEntry> entries) {
		List<@Nullable Object> parameters = new ArrayList<>();
		for (JournalEntry entry : entries) {
			parameters.addAll(parameters(entry));
		}
		return parameters;
	}

	/**
	 * Inserts or replaces entries on other databases.
	 */
	void write(Connection connection, IdempotencyKey saga, List<JournalEntry> entries) {
		for (JournalEntry entry : entries) {
			if (this.database == Database.MYSQL) {
				insert(connection, saga, entry,
						" on duplicate key update state = values(state), "
								+ "result = values(result), reason = values(reason), compensating_at = "
								+ "case when refused_undos = values(refused_undos) then "
								+ "coalesce(compensating_at, values(compensating_at)) end, "
								+ "refused_undos = values(refused_undos), ended_at = values(ended_at)");
			}
			else if (replace(connection, saga, entry) == 0) {
				insert(connection, saga, entry, "");
			}
		}
	}

	private void insert(Connection connection, IdempotencyKey saga, JournalEntry entry, String otherwise) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(saga.digest());
		parameters.addAll(parameters(entry));
		SagaStatements.update(connection,
				"insert into " + this.table + " " + COLUMNS + "values (?, ?, ?, ?, ?, ?, ?, ?, " + this.database.now()
						+ ", " + SagaSql.compensatingAt(entry.state(), this.database) + ", "
						+ SagaSql.endedAt(entry.state(), this.database) + ")" + otherwise,
				parameters);
	}

	private int replace(Connection connection, IdempotencyKey saga, JournalEntry entry) {
		return SagaStatements.update(connection,
				"update " + this.table + " set state = ?, result = ?, reason = ?, compensating_at = "
						+ "case when refused_undos = ? then coalesce(compensating_at, "
						+ SagaSql.compensatingAt(entry.state(), this.database) + ") end, refused_undos = ?, ended_at = "
						+ SagaSql.endedAt(entry.state(), this.database) + " where saga_id = ? and seq = ?",
				entry.state().name(), entry.result(), SagaStore.text(entry.reason()), entry.refusedUndos(),
				entry.refusedUndos(), saga.digest(), entry.number());
	}

	private static List<@Nullable Object> parameters(JournalEntry entry) {
		return Arrays.<@Nullable Object>asList(entry.name(), entry.number(), entry.kind().name(), entry.state().name(),
				entry.result(), SagaStore.text(entry.reason()), entry.refusedUndos());
	}

}
