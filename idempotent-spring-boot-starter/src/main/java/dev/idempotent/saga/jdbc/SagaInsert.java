package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.run.SagaStore.JournalEntry;
import dev.idempotent.saga.run.SagaStore.NewSaga;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;

/**
 * Inserts a saga unless its id exists, after a limited wait for another transaction that
 * inserts it.
 */
final class SagaInsert {

	private static final String COLUMNS = "(id, name, status, epoch, steps, owner, attempts, fingerprint_version, "
			+ "fingerprint_digest, arguments, created_at, deadline, due_at) ";

	private final Connection connection;

	private final Database database;

	private final SagaTables tables;

	private final StepRows steps;

	SagaInsert(Connection connection, Database database, SagaTables tables) {
		this.connection = connection;
		this.database = database;
		this.tables = tables;
		this.steps = new StepRows(database, tables);
	}

	boolean insert(NewSaga saga, int number, List<JournalEntry> entries, Duration lockTimeout) {
		if (this.database == Database.POSTGRESQL) {
			return insertAtOnce(saga, number, entries, lockTimeout);
		}
		boolean inserted = (this.database == Database.MYSQL) ? insertBetween(saga, number, lockTimeout)
				: insertIfAbsent(saga, number);
		if (inserted) {
			this.steps.write(this.connection, saga.id(), entries);
		}
		return inserted;
	}

	/**
	 * The order is enforced by references: the insert reads the part that limits the
	 * wait, and the part that restores the limit needs the count of the insert.
	 */
	private boolean insertAtOnce(NewSaga saga, int number, List<JournalEntry> entries, Duration lockTimeout) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(Long.toString(Math.max(1, lockTimeout.toMillis())));
		parameters.addAll(parameters(saga, number));
		parameters.addAll(StepRows.parameters(entries));
		String sql = "with previous as materialized (select current_setting('lock_timeout') as bound), "
				+ "limited as materialized (select set_config('lock_timeout', ?, true) from previous), inserted as ("
				+ into() + "select " + row() + " from limited on conflict (id) do nothing returning id)"
				+ (entries.isEmpty() ? "" : ", written as (" + this.steps.writeFrom("inserted", entries.size()) + ")")
				+ " select changes.n, set_config('lock_timeout', previous.bound, true) "
				+ "from (select count(*) as n from inserted) changes, previous";
		return SagaStatements.number(this.connection, sql, parameters) == 1;
	}

	/**
	 * The lock timeout of MySQL is a setting of the session, in whole seconds.
	 */
	private boolean insertBetween(NewSaga saga, int number, Duration lockTimeout) {
		long seconds = Math.max(1, lockTimeout.plusMillis(999).toSeconds());
		SagaStatements.execute(this.connection, "set @saga_lock_wait = @@session.innodb_lock_wait_timeout, "
				+ "session innodb_lock_wait_timeout = " + seconds);
		try {
			return SagaStatements.update(this.connection, into() + "values (" + row() + ")",
					parameters(saga, number)) == 1;
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
		finally {
			SagaStatements.execute(this.connection, "set session innodb_lock_wait_timeout = @saga_lock_wait");
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
			return SagaStatements.update(this.connection, into() + "select " + row()
					+ " where not exists (select 1 from " + this.tables.instance() + " where id = ?)", parameters) == 1;
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

	private String into() {
		return "insert into " + this.tables.instance() + " " + COLUMNS;
	}

	private String row() {
		String end = this.database.millisFromNow();
		String values = (this.database == Database.H2)
				? "cast(? as varchar), cast(? as varchar), cast(? as varchar), cast(? as bigint), cast(? as integer), "
						+ "cast(? as varchar), 0, cast(? as integer), cast(? as varchar), "
						+ "cast(? as binary large object), "
				: "?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ";
		return values + this.database.now() + ", " + end + ", least(" + end + ", " + end + ")";
	}

	private static List<@Nullable Object> parameters(NewSaga saga, int number) {
		long lease = (saga.status() == SagaStatus.STARTED) ? 0 : saga.lease().toMillis();
		long timeout = saga.timeout().toMillis();
		return Arrays.<@Nullable Object>asList(saga.id().digest(), saga.name(), saga.status().name(),
				saga.owner().epoch(), number, saga.process(), saga.fingerprint().version(), saga.fingerprint().digest(),
				saga.arguments(), timeout, lease, timeout);
	}

}
