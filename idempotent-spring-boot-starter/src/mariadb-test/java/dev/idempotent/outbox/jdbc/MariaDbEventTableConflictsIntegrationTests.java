package dev.idempotent.outbox.jdbc;

import java.sql.Statement;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Tests for steps that conflict with another transaction, on MariaDB.
 */
class MariaDbEventTableConflictsIntegrationTests extends AbstractEventTableConflictsTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static Fixture fixture;

	private static JdbcTemplate observer;

	@BeforeAll
	static void connect() {
		HikariDataSource usual = mariaDb.connect(RealMariaDb.URL);
		observer = new JdbcTemplate(usual);
		HikariDataSource strict = mariaDb.connect(RealMariaDb.URL);
		strict.setAutoCommit(false);
		strict.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		fixture = Fixture.create(usual, "mysql", "conflicts_").through(strict);
	}

	@Override
	Fixture fixture() {
		return fixture;
	}

	@BeforeEach
	@Override
	void empty() {
		// The pool of the tables does not commit by itself.
		List.of("event", "delayed", "dead", "control")
			.forEach((table) -> observer.update("delete from conflicts_" + table));
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
