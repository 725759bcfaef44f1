package dev.idempotent.state.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.IncorrectResultSizeDataAccessException;
import org.springframework.dao.TypeMismatchDataAccessException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Executes the statements on a table in the transaction of the caller.
 *
 * @param <S> the enum of the states
 */
final class GuardedRows<S extends Enum<S>> {

	private final JdbcTemplate jdbc;

	private final GuardedTable table;

	private final Class<S> type;

	private final String updateByState;

	private final String updateByVersion;

	private volatile @Nullable Database detected;

	GuardedRows(DataSource dataSource, GuardedTable table, Class<S> type) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.jdbc
			.setExceptionTranslator((task, sql, failure) -> Statements.translate((sql != null) ? sql : "", failure));
		this.table = table;
		this.type = type;
		this.updateByState = table.updateByState();
		this.updateByVersion = table.updateByVersion();
	}

	/**
	 * Moves the row if it has a state and, unless {@code null}, a version.
	 * @return the new version, or {@code null} if there is no such row
	 */
	@Nullable Long update(Object id, S from, S to, @Nullable Long version) {
		Database database = database();
		String sql = (version != null) ? this.updateByVersion : this.updateByState;
		if (database == Database.POSTGRESQL) {
			return DataAccessUtils.singleResult(this.jdbc.query(sql + this.table.returning(),
					(statement) -> bind(database, statement, id, from, to, version), (row, number) -> version(row, 1)));
		}
		int updated = this.jdbc.update(sql, (statement) -> bind(database, statement, id, from, to, version));
		if (updated == 0) {
			return null;
		}
		if (updated != 1) {
			throw new IncorrectResultSizeDataAccessException("%s has %d rows with one %s, which needs a unique index"
				.formatted(this.table.table(), updated, this.table.id()), 1, updated);
		}
		return (version != null) ? Long.valueOf(version + 1) : readVersion(database, id);
	}

	/**
	 * Locks the row, because a plain read may show its state at the start of the
	 * transaction.
	 * @return {@code null} if there is none
	 */
	@Nullable Row<S> lock(Object id) {
		Database database = database();
		return DataAccessUtils
			.singleResult(this.jdbc.query(this.table.lock(), (statement) -> bindId(database, statement, 1, id),
					(row, number) -> new Row<>(state(row), version(row, 2))));
	}

	private @Nullable Long readVersion(Database database, Object id) {
		return DataAccessUtils.singleResult(this.jdbc.query(this.table.selectVersion(),
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
		return Arrays.stream(this.type.getEnumConstants())
			.filter((state) -> name != null && state.name().equals(name.stripTrailing()))
			.findFirst()
			.orElseThrow(() -> new TypeMismatchDataAccessException(
					"The column %s of %s contains '%s', which is not a constant of %s".formatted(this.table.state(),
							this.table.table(), name, this.type.getName()),
					null));
	}

	private long version(ResultSet row, int column) throws SQLException {
		long version = row.getLong(column);
		if (row.wasNull()) {
			throw new TypeMismatchDataAccessException(
					"The column %s of %s is null: make it an integer with 'not null default 0'"
						.formatted(this.table.version(), this.table.table()),
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
	 * A locked row.
	 *
	 * @param <S> the enum of the states
	 * @param state its state
	 * @param version its version
	 */
	record Row<S extends Enum<S>>(S state, long version) {

		boolean matches(S expected, @Nullable Long expectedVersion) {
			return this.state == expected && (expectedVersion == null || expectedVersion == this.version);
		}

	}

}
