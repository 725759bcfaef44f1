package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.run.SagaStore.JournalEntry;
import org.jspecify.annotations.Nullable;

/**
 * Updates the row of a saga, and writes its steps only if that row has met a condition:
 * in one statement on PostgreSQL, elsewhere within the transaction of the caller.
 */
final class FencedWrites {

	private final Connection connection;

	private final Database database;

	private final SagaTables tables;

	private final StepRows steps;

	FencedWrites(Connection connection, Database database, SagaTables tables) {
		this.connection = connection;
		this.database = database;
		this.tables = tables;
		this.steps = new StepRows(database, tables);
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
		String instance = "update " + this.tables.instance() + " set " + update.assignments() + update.where();
		if (this.database == Database.POSTGRESQL) {
			return writeAtOnce(instance, update, entries, end);
		}
		// With useAffectedRows, MySQL does not count a row that was equal before.
		boolean fenced = SagaStatements.update(this.connection, instance, update.parameters()) > 0
				|| (this.database == Database.MYSQL && meetsStill(update));
		if (fenced && end) {
			SagaStatements.update(this.connection,
					"update " + this.tables.step() + " set result = null where saga_id = ?", update.id().digest());
		}
		if (fenced) {
			this.steps.write(this.connection, update.id(), entries);
		}
		return fenced;
	}

	private boolean meetsStill(Update update) {
		return !SagaStatements
			.query(this.connection, "select 1 from " + this.tables.instance() + update.where() + " for update",
					update.conditionParameters(), (row, number) -> row.getInt(1))
			.isEmpty();
	}

	private boolean writeAtOnce(String instance, Update update, List<JournalEntry> entries, boolean end) {
		StringBuilder sql = new StringBuilder("with fenced as (" + instance + " returning id)");
		List<@Nullable Object> parameters = new ArrayList<>(update.parameters());
		if (!entries.isEmpty()) {
			sql.append(", written as (").append(this.steps.writeFrom("fenced", entries.size())).append(')');
			parameters.addAll(StepRows.parameters(entries));
		}
		if (end) {
			sql.append(", emptied as (update ").append(this.tables.step());
			sql.append(" set result = null from fenced where saga_id = fenced.id and result is not null");
			for (JournalEntry entry : entries) {
				sql.append(" and seq <> ?");
				parameters.add(entry.number());
			}
			sql.append(')');
		}
		sql.append(" select count(*) from fenced");
		return SagaStatements.number(this.connection, sql.toString(), parameters) == 1;
	}

	/**
	 * An update of the row of a saga.
	 *
	 * @param id the id
	 * @param assignments what it sets
	 * @param values the parameters of the assignments
	 * @param condition the condition besides the id
	 * @param operands the parameters of the condition
	 */
	record Update(IdempotencyKey id, String assignments, List<? extends @Nullable Object> values, String condition,
			List<?> operands) {

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
