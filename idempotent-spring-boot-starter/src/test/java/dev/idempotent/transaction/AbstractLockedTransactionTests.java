package dev.idempotent.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import dev.idempotent.transaction.TransactionBench.Manager;
import dev.idempotent.transaction.TransactionBench.Outcome;
import dev.idempotent.transaction.TransactionBench.Work;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The same on a database that rolls back a transaction to break a deadlock, and lets it
 * go on.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AbstractLockedTransactionTests extends AbstractObservedTransactionTests {

	/**
	 * A query for transactions that wait for another one.
	 */
	abstract String waiting();

	private void createAccounts() {
		JdbcTemplate observer = database().observer();
		observer.execute("drop table if exists observed_account");
		observer.execute("drop table if exists observed_ballast");
		observer.execute("create table observed_account (id varchar(10) primary key, n int)");
		observer.execute("create table observed_ballast (name varchar(100))");
		observer.execute("insert into observed_account values ('a', 0), ('b', 0)");
	}

	@Test
	void tellsNoCommitOfAVictimOfADeadlockThatGoesOn() throws Exception {
		intoADeadlock().fails().tells(rolledBack()).leavesNone();
	}

	private Outcome intoADeadlock() throws Exception {
		createAccounts();
		try (Connection connection = Objects.requireNonNull(database().observer().getDataSource()).getConnection();
				Statement rival = connection.createStatement()) {
			connection.setAutoCommit(false);
			// The database chooses the transaction with fewer changes.
			rival.execute("insert into observed_ballast select 'ballast' from information_schema.columns");
			rival.execute("update observed_account set n = n + 1 where id = 'b'");
			List<CompletableFuture<Boolean>> waits = new ArrayList<>();
			Outcome outcome = this.bench.run((work) -> {
				work.confirmRows();
				work.writeAll();
				loseDeadlock(work, rival, waits);
				work.write();
			});
			assertThat(waits.get(0).get(60, TimeUnit.SECONDS)).isTrue();
			connection.rollback();
			connection.setAutoCommit(true);
			return outcome;
		}
	}

	private void loseDeadlock(Work work, Statement rival, List<CompletableFuture<Boolean>> waits) {
		work.jdbc().update("update observed_account set n = n + 1 where id = 'a'");
		waits.add(CompletableFuture.supplyAsync(() -> update(rival)));
		await().until(() -> {
			Long waiting = database().observer().queryForObject(waiting(), Long.class);
			return waiting != null && waiting > 0;
		});
		assertThatExceptionOfType(PessimisticLockingFailureException.class)
			.isThrownBy(() -> work.jdbc().update("update observed_account set n = n + 1 where id = 'b'"));
	}

	private static boolean update(Statement rival) {
		try {
			return rival.executeUpdate("update observed_account set n = n + 1 where id = 'a'") == 1;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
