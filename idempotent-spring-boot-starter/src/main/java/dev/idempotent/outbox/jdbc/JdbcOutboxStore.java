package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.RoutingDataSources;
import dev.idempotent.jdbc.StatementFailures;
import dev.idempotent.outbox.ClaimScope;
import dev.idempotent.outbox.EventLease;
import dev.idempotent.outbox.FailedEvent;
import dev.idempotent.outbox.LeasedEvent;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.WaitingEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * Keeps events in tables of the application's database: PostgreSQL, MySQL, MariaDB or H2.
 * Many instances work on them without waiting for each other.
 */
public final class JdbcOutboxStore implements OutboxStore {

	private final DataSource dataSource;

	private final NonTransactionalConnections connections;

	private final RepeatedTransaction transactions;

	private final OutboxTables tables;

	private volatile @Nullable Statements statements;

	/**
	 * Creates a store on tables that one of the scripts beside this class has created.
	 * @param dataSource the one that the application's transactions are on
	 * @param tables the tables
	 */
	public JdbcOutboxStore(DataSource dataSource, OutboxTables tables) {
		this.dataSource = NonTransactionalConnections.withoutTransactions(dataSource);
		this.connections = new NonTransactionalConnections(dataSource);
		this.transactions = new RepeatedTransaction(this.connections);
		this.tables = tables;
	}

	/**
	 * Refuses a data source that routes to several databases.
	 * @throws IdempotentConfigurationException if it does
	 */
	public void requireOneDatabase() {
		String router = RoutingDataSources.find(this.dataSource);
		if (router != null) {
			throw new IdempotentConfigurationException(
					"An outbox is in the database of the application's transactions, and the DataSource " + router
							+ " routes to several databases: events would be delivered only from the default one.",
					RoutingDataSources.REMEDY + "; or set idempotent.outbox.enabled=false.", null);
		}
	}

	@Override
	public Object transactionResource() {
		return this.dataSource;
	}

	@Override
	public boolean leasesAtBirth() {
		return joined((connection) -> statements(connection).dialect() != EventDialect.H2);
	}

	@Override
	public List<SerializedEvent> append(List<SerializedEvent> events, @Nullable EventLease lease) {
		try {
			return joined((connection) -> statements(connection).insert().insert(connection, events, lease));
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw new InvalidDataAccessResourceUsageException(
					"No event was appended: " + missingTables() + ". " + howToCreateTables(), ex);
		}
	}

	@Override
	public List<LeasedEvent> claim(EventLease lease, ClaimScope scope) {
		Statements statements = statements();
		List<Long> ids = this.transactions.run((connection) -> statements.claims().claim(connection, lease, scope));
		List<EventRow> rows = ids.isEmpty() ? List.of()
				: this.transactions.run((connection) -> statements.claims().read(connection, lease, scope, ids));
		List<LeasedEvent> claimed = new ArrayList<>();
		List<FailedEvent> unreadable = new ArrayList<>();
		for (EventRow row : rows) {
			LeasedEvent held = new LeasedEvent(row.event(), lease.claimId(), scope.parked());
			if (row.unreadable() == null) {
				claimed.add(held);
			}
			else {
				unreadable.add(new FailedEvent(held, row.unreadable()));
			}
		}
		deadLetter(unreadable);
		return claimed;
	}

	@Override
	public long lastRow(long above) {
		EventClaims claims = statements().claims();
		return this.transactions.run((connection) -> claims.lastRow(connection, above));
	}

	@Override
	public int delivered(List<LeasedEvent> events) {
		LeasedRows held = statements().held();
		return eachTable(events, LeasedEvent::parked,
				(parked, some) -> this.transactions.run((connection) -> held.delete(connection, parked, some)));
	}

	@Override
	public int release(List<LeasedEvent> events) {
		LeasedRows held = statements().held();
		return eachTable(events, LeasedEvent::parked, (parked, some) -> this.transactions
			.run((connection) -> held.release(connection, parked, held.lock(connection, parked, some).keySet())));
	}

	@Override
	public int park(List<WaitingEvent> events) {
		FailedRows failed = statements().failed();
		return eachTable(events, (event) -> event.failed().held().parked(),
				(parked, some) -> this.transactions.run((connection) -> failed.park(connection, parked, some)));
	}

	@Override
	public int deadLetter(List<FailedEvent> events) {
		FailedRows failed = statements().failed();
		return eachTable(events, (event) -> event.held().parked(),
				(parked, some) -> this.transactions.run((connection) -> failed.deadLetter(connection, parked, some)));
	}

	@Override
	public int parkDelayed(int limit) {
		FailedRows failed = statements().failed();
		return this.transactions.run((connection) -> failed.parkDelayed(connection, limit));
	}

	/**
	 * Looks for the tables.
	 * @return whether they are there and as this library creates them
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public boolean hasTables() {
		try {
			this.connections.runInTransaction((connection) -> new TableProbe(this.tables).read(connection));
			return true;
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			return false;
		}
	}

	/**
	 * Says which tables are missing.
	 * @return a clause for operators
	 */
	public String missingTables() {
		return "the database lacks the tables of the outbox (" + this.tables.event() + ", " + this.tables.waiting()
				+ ", " + this.tables.dead() + "), or has others of these names";
	}

	/**
	 * Says what to do when the tables are missing.
	 * @return a sentence for operators, without the full stop
	 */
	public String howToCreateTables() {
		return "Run the script schema-*.sql for your database (it is in the jar, in "
				+ getClass().getPackageName().replace('.', '/')
				+ "), or set idempotent.outbox.initialize-schema=always";
	}

	/**
	 * Runs work on the connection of the caller's transaction. Another one might never be
	 * had.
	 */
	private <T> T joined(Function<Connection, T> work) {
		Connection connection = DataSourceUtils.getConnection(this.dataSource);
		try {
			return work.apply(connection);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, this.dataSource);
		}
	}

	private static <E> int eachTable(List<E> events, Function<E, Boolean> parked,
			BiFunction<Boolean, List<E>, Integer> step) {
		int held = 0;
		for (boolean table : new boolean[] { false, true }) {
			List<E> some = events.stream().filter((event) -> parked.apply(event) == table).toList();
			held += some.isEmpty() ? 0 : step.apply(table, some);
		}
		return held;
	}

	/**
	 * The database tells what it is at the first connection.
	 */
	private Statements statements() {
		Statements known = this.statements;
		return (known != null) ? known : this.connections.run(this::statements);
	}

	private Statements statements(Connection connection) {
		Statements known = this.statements;
		if (known == null) {
			known = Statements.of(dialectOf(connection), this.tables);
			this.statements = known;
		}
		return known;
	}

	private static EventDialect dialectOf(Connection connection) {
		try {
			return EventDialect.of(connection);
		}
		catch (SQLException ex) {
			throw StatementFailures.translate("", ex);
		}
	}

	/**
	 * The statements in one dialect.
	 */
	private record Statements(EventDialect dialect, EventInsert insert, EventClaims claims, LeasedRows held,
			FailedRows failed) {

		static Statements of(EventDialect dialect, OutboxTables tables) {
			LeasedRows held = new LeasedRows(dialect, tables);
			return new Statements(dialect, new EventInsert(dialect, tables), new EventClaims(dialect, tables), held,
					new FailedRows(dialect, tables, held));
		}

	}

}
