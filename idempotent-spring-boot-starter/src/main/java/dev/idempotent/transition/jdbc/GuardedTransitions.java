package dev.idempotent.transition.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.UUID;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.transition.IllegalTransitionException;
import dev.idempotent.transition.Transitions;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.IncorrectResultSizeDataAccessException;
import org.springframework.dao.TypeMismatchDataAccessException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * Moves the rows of a table along {@link Transitions}: of many callers that move a row
 * from the same state, one succeeds. Thread-safe. Supports PostgreSQL, MySQL, MariaDB and
 * H2.
 *
 * @param <S> the enum of the states
 */
public final class GuardedTransitions<S extends Enum<S>> {

	private static final String NAME = "([A-Za-z_]\\w*|\"[^\"\\x00]+\"|`[^`\\x00]+`)";

	private static final Pattern COLUMN = Pattern.compile(NAME);

	private static final Pattern TABLE = Pattern.compile("(" + NAME + "\\.)?" + NAME);

	private final Transitions<S> transitions;

	private final DataSource dataSource;

	private final JdbcTemplate jdbc;

	private final String table;

	private final String id;

	private final String state;

	private final String version;

	private final String update;

	private volatile @Nullable Database detected;

	private GuardedTransitions(Builder<S> names) {
		this.transitions = names.transitions;
		this.dataSource = names.dataSource;
		this.jdbc = new JdbcTemplate(names.dataSource);
		this.jdbc
			.setExceptionTranslator((task, sql, failure) -> Statements.translate((sql != null) ? sql : "", failure));
		this.table = names.table;
		this.id = names.id;
		this.state = names.state;
		this.version = names.version;
		this.update = "update " + this.table + " set " + this.state + " = ?, " + this.version + " = " + this.version
				+ " + 1 where " + this.id + " = ? and " + this.state + " = ?";
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
	public TransitionResult<S> move(Object id, S from, S to) {
		return moveIf(id, from, to, null);
	}

	/**
	 * Moves a row if it also has a version: a row that has left the state and returned to
	 * it since it was read is not moved.
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
	public TransitionResult<S> move(Object id, S from, S to, long version) {
		return moveIf(id, from, to, version);
	}

	private TransitionResult<S> moveIf(Object id, S from, S to, @Nullable Long version) {
		Assert.notNull(id, "'id' must not be null");
		this.transitions.require(from, to);
		requireTransaction();
		Long moved = update(id, from, to, version);
		if (moved == null) {
			TransitionResult<S> locked = lock(id);
			// Another transaction may have moved it back since the update.
			boolean back = locked.state() == from && (version == null || version.equals(locked.version()));
			moved = back ? update(id, from, to, version) : null;
			if (moved == null) {
				return locked;
			}
		}
		return TransitionResult.applied(to, moved);
	}

	/**
	 * Checks that what the calling thread writes now commits with its transaction.
	 * @throws IllegalTransactionStateException if it would not
	 */
	private void requireTransaction() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			throw refusal("there is no transaction",
					"make the method that moves @Transactional, or use a TransactionTemplate");
		}
		ObservedTransaction transaction = ObservedTransaction.current();
		if (transaction == null || transaction.isCommitted()) {
			throw refusal("the transaction has ended",
					"move before the commit, or in a transaction of its own (Propagation.REQUIRES_NEW)");
		}
		if (!TransactionGuard.isCurrent(this.dataSource)) {
			throw refusal("the transaction is not on the DataSource of this table",
					"name the transaction manager of that DataSource in @Transactional");
		}
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw refusal("the transaction is read-only", "leave out readOnly = true");
		}
	}

	private IllegalTransactionStateException refusal(String problem, String action) {
		return new IllegalTransactionStateException(
				"No row of %s was moved, because %s: %s".formatted(this.table, problem, action));
	}

	/**
	 * Moves the row if it has a state and, unless {@code null}, a version.
	 * @return the new version, or {@code null} if there is no such row
	 */
	private @Nullable Long update(Object id, S from, S to, @Nullable Long version) {
		Database database = database();
		String sql = (version != null) ? this.update + " and " + this.version + " = ?" : this.update;
		if (database.combinesChanges()) {
			return DataAccessUtils.singleResult(this.jdbc.query(sql + " returning " + this.version,
					(statement) -> bind(database, statement, id, from, to, version), (row, number) -> version(row, 1)));
		}
		int updated = this.jdbc.update(sql, (statement) -> bind(database, statement, id, from, to, version));
		if (updated == 0) {
			return null;
		}
		if (updated != 1) {
			throw new IncorrectResultSizeDataAccessException(
					"%s has %d rows with one %s, which needs a unique index".formatted(this.table, updated, this.id), 1,
					updated);
		}
		return (version != null) ? Long.valueOf(version + 1) : readVersion(database, id);
	}

	/**
	 * Locks the row, because a plain read may show its state at the start of the
	 * transaction.
	 * @return its state and version, as a conflict, or its absence
	 */
	private TransitionResult<S> lock(Object id) {
		Database database = database();
		String sql = "select " + this.state + ", " + this.version + " from " + this.table + " where " + this.id
				+ " = ? for update";
		TransitionResult<S> locked = DataAccessUtils
			.singleResult(this.jdbc.query(sql, (statement) -> bindId(database, statement, 1, id),
					(row, number) -> TransitionResult.conflict(state(row), version(row, 2))));
		return (locked != null) ? locked : TransitionResult.absent();
	}

	private @Nullable Long readVersion(Database database, Object id) {
		return DataAccessUtils.singleResult(
				this.jdbc.query("select " + this.version + " from " + this.table + " where " + this.id + " = ?",
						(statement) -> bindId(database, statement, 1, id), (row, number) -> version(row, 1)));
	}

	private static void bind(Database database, PreparedStatement statement, Object id, Enum<?> from, Enum<?> to,
			@Nullable Long version) throws SQLException {
		bindState(database, statement, 1, to);
		bindId(database, statement, 2, id);
		bindState(database, statement, 3, from);
		if (version != null) {
			statement.setLong(4, version);
		}
	}

	/**
	 * As a literal of unknown type on PostgreSQL, which then converts it to an enum type,
	 * too.
	 */
	private static void bindState(Database database, PreparedStatement statement, int index, Enum<?> state)
			throws SQLException {
		if (database == Database.POSTGRESQL) {
			statement.setObject(index, state.name(), Types.OTHER);
		}
		else {
			statement.setString(index, state.name());
		}
	}

	private static void bindId(Database database, PreparedStatement statement, int index, Object id)
			throws SQLException {
		if (id instanceof byte[] bytes) {
			statement.setBytes(index, bytes);
		}
		else {
			statement.setObject(index, (id instanceof UUID uuid) ? database.parameter(uuid) : id);
		}
	}

	/**
	 * Reads the state, which columns of type char(n) pad with spaces.
	 */
	private S state(ResultSet row) throws SQLException {
		String name = row.getString(1);
		return Arrays.stream(this.transitions.type().getEnumConstants())
			.filter((state) -> name != null && state.name().equals(name.stripTrailing()))
			.findFirst()
			.orElseThrow(() -> new TypeMismatchDataAccessException(
					"The column %s of %s contains '%s', which is not a constant of %s".formatted(this.state, this.table,
							name, this.transitions.type().getName()),
					null));
	}

	private long version(ResultSet row, int column) throws SQLException {
		long version = row.getLong(column);
		if (row.wasNull()) {
			throw new TypeMismatchDataAccessException(
					"The column %s of %s is null: make it an integer with 'not null default 0'".formatted(this.version,
							this.table),
					null);
		}
		return version;
	}

	private Database database() {
		Database known = this.detected;
		if (known == null) {
			known = this.jdbc.execute((ConnectionCallback<Database>) (connection) -> Database.of(connection,
					"Guarded transitions", "update the state by a statement of your own"));
			this.detected = known;
		}
		return known;
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
			this.dataSource = TransactionGuard.target(dataSource);
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
		public GuardedTransitions<S> build() {
			require("table", TABLE, this.table);
			require("id column", COLUMN, this.id);
			require("state column", COLUMN, this.state);
			require("version column", COLUMN, this.version);
			if (this.state.equals(this.id) || this.version.equals(this.id) || this.version.equals(this.state)) {
				throw new IllegalArgumentException(
						"The columns of id, state and version of %s must differ".formatted(this.table));
			}
			return new GuardedTransitions<>(this);
		}

		private static void require(String role, Pattern pattern, String name) {
			if (!pattern.matcher(name).matches()) {
				throw new IllegalArgumentException(
						"'%s' is not a valid name of a %s: use letters, digits and underscores, or quote it as in SQL"
							.formatted(name, role));
			}
		}

	}

}
