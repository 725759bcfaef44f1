package dev.idempotent.state.jdbc;

import javax.sql.DataSource;

import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.state.IllegalTransitionException;
import dev.idempotent.state.Transitions;
import dev.idempotent.state.jdbc.GuardedRows.Row;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.util.Assert;

/**
 * Moves the rows of a table along {@link Transitions}: of many callers that move a row
 * from the same state, one succeeds. Thread-safe. Supports PostgreSQL, MySQL, MariaDB and
 * H2.
 *
 * @param <S> the enum of the states
 */
public final class Guarded<S extends Enum<S>> {

	private final Transitions<S> transitions;

	private final String table;

	private final CallerTransaction transaction;

	private final GuardedRows<S> rows;

	private Guarded(DataSource dataSource, GuardedTable table, Transitions<S> transitions) {
		this.transitions = transitions;
		this.table = table.table();
		this.transaction = new CallerTransaction(dataSource);
		this.rows = new GuardedRows<>(dataSource, table, transitions.type());
	}

	/**
	 * Begins with a table whose columns are {@code id}, {@code status} and
	 * {@code version}.
	 * @param <S> the enum of the states
	 * @param dataSource the database
	 * @param table the table, optionally qualified with the name of a schema. A name
	 * other than letters, digits and underscores must be quoted as in SQL
	 * @param transitions the allowed transitions
	 * @return a builder
	 */
	public static <S extends Enum<S>> Builder<S> table(DataSource dataSource, String table,
			Transitions<S> transitions) {
		return new Builder<>(dataSource, table, transitions);
	}

	/**
	 * Moves a row in the transaction of the caller and increments its version.
	 * @param id the value of the primary key: a {@link java.util.UUID}, a number, text or
	 * bytes
	 * @param from the state that the row must have
	 * @param to the state that it gets
	 * @return the outcome, which is final when the transaction commits
	 * @throws IllegalTransitionException if the transition is not allowed; no statement
	 * was executed
	 * @throws IllegalTransactionStateException if the calling thread has no transaction
	 * on this data source that can write; no statement was executed
	 * @throws DataAccessException if a statement failed, also by a deadlock or a conflict
	 * of isolation, after which the transaction can be repeated
	 */
	public Moved<S> move(Object id, S from, S to) {
		return moveIf(id, from, to, null);
	}

	/**
	 * Moves a row if it also has a version: one that has left the state and returned
	 * since it was read is not moved.
	 * @param id the value of the primary key: a {@link java.util.UUID}, a number, text or
	 * bytes
	 * @param from the state that the row must have
	 * @param to the state that it gets
	 * @param version the version that the row must have
	 * @return the outcome, which is final when the transaction commits
	 * @throws IllegalTransitionException if the transition is not allowed; no statement
	 * was executed
	 * @throws IllegalTransactionStateException if the calling thread has no transaction
	 * on this data source that can write; no statement was executed
	 * @throws DataAccessException if a statement failed, also by a deadlock or a conflict
	 * of isolation, after which the transaction can be repeated
	 */
	public Moved<S> move(Object id, S from, S to, long version) {
		return moveIf(id, from, to, version);
	}

	private Moved<S> moveIf(Object id, S from, S to, @Nullable Long version) {
		Assert.notNull(id, "'id' must not be null");
		this.transitions.require(from, to);
		this.transaction.require(this.table);
		Long moved = this.rows.update(id, from, to, version);
		if (moved != null) {
			return Moved.applied(to, moved);
		}
		Row<S> row = this.rows.lock(id);
		if (row == null) {
			return Moved.absent();
		}
		// Another transaction may have moved it back since the update.
		moved = row.matches(from, version) ? this.rows.update(id, from, to, version) : null;
		return (moved != null) ? Moved.applied(to, moved) : Moved.conflict(row.state(), row.version());
	}

	/**
	 * Names the columns.
	 *
	 * @param <S> the enum of the states
	 */
	public static final class Builder<S extends Enum<S>> {

		private final DataSource dataSource;

		private final String table;

		private final Transitions<S> transitions;

		private String id = "id";

		private String state = "status";

		private String version = "version";

		private Builder(DataSource dataSource, String table, Transitions<S> transitions) {
			this.dataSource = NonTransactionalConnections.withoutTransactions(dataSource);
			this.table = table;
			this.transitions = transitions;
		}

		/**
		 * Names the column of the primary key.
		 * @param column a UUID, integer, text or binary column with a unique index
		 * @return this builder
		 */
		public Builder<S> id(String column) {
			this.id = column;
			return this;
		}

		/**
		 * Names the column of the state.
		 * @param column a text column, or one of the database's enum type, that contains
		 * the names of the constants
		 * @return this builder
		 */
		public Builder<S> state(String column) {
			this.state = column;
			return this;
		}

		/**
		 * Names the column of the version.
		 * @param column an integer column that is not null
		 * @return this builder
		 */
		public Builder<S> version(String column) {
			this.version = column;
			return this;
		}

		/**
		 * Builds the guard. Does not connect to the database.
		 * @return the guard
		 * @throws IllegalArgumentException if a name is not valid
		 */
		public Guarded<S> build() {
			return new Guarded<>(this.dataSource, new GuardedTable(this.table, this.id, this.state, this.version),
					this.transitions);
		}

	}

}
