package dev.idempotent.outbox.jdbc;

import java.sql.Statement;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Tests for settlements that conflict with another transaction, on MariaDB.
 */
class MariaDbOutboxConflictsIntegrationTests extends OutboxConflictsContract {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static StoreOnTables tables;

	private static JdbcTemplate observer;

	@BeforeAll
	static void connect() {
		observer = new JdbcTemplate(mariaDb.connect("jdbc:mariadb://127.0.0.1:%d/test"));
		HikariDataSource strict = mariaDb.connect("jdbc:mariadb://127.0.0.1:%d/test");
		strict.setAutoCommit(false);
		strict.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		tables = StoreOnTables.create(strict, "mysql", "conflicts_");
	}

	@Override
	protected StoreOnTables tested() {
		return tables;
	}

	@Override
	boolean someoneWaits() {
		return Boolean.TRUE.equals(observer.queryForObject(
				"select exists(select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT')",
				Boolean.class));
	}

	/**
	 * The victim is the transaction that has changed fewer rows.
	 */
	@Override
	void survive(Statement rival) {
	}

}
