package dev.idempotent.transaction;

import javax.sql.DataSource;

import dev.idempotent.transaction.TransactionBench.Manager;
import dev.idempotent.transaction.TransactionBench.Outcome;
import dev.idempotent.transaction.TransactionBench.Work;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The same on PostgreSQL, which answers the commit of a transaction in which a statement
 * has failed with a rollback, and has constraints that are checked at the commit.
 */
abstract class AbstractPostgresTransactionTests extends AbstractObservedTransactionTests {

	static ObservedDatabase create(DataSource real, DataSource observer) {
		return new ObservedDatabase(real, observer, "select pg_backend_pid()", "select pg_terminate_backend(%d)");
	}

	@Test
	void tellsNoCommitIfAStatementHasFailed() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			failStatement(work);
			work.transaction().lastStatement(() -> {
			});
		});
		assertNotCommitted(outcome);
	}

	@Test
	void tellsNoCommitIfAStatementHasFailedInACallbackBeforeTheCompletion() {
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			register(Moment.BEFORE_COMPLETION, () -> failStatement(work));
		});
		assertNotCommitted(outcome);
	}

	@Test
	void tellsNoCommitIfAStatementHasFailedInAListener() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			this.bench.manager().addListener(new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					if (work.told().isEmpty()) {
						failStatement(work);
					}
				}

			});
		});
		assertNotCommitted(outcome);
	}

	@Test
	void tellsNoCommitIfAStatementHasFailedWithoutALastStatement() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			failStatement(work);
		});
		assertNotCommitted(outcome);
	}

	@Test
	void tellsNoCommitOfAParticipantAddedBeforeTheCompletionIfAStatementHasFailed() {
		Outcome outcome = this.bench.run((work) -> {
			register(Moment.BEFORE_COMPLETION, () -> {
				work.participate().write();
				failStatement(work);
			});
			work.jdbc().queryForList("select 1");
		});
		assertNotCommitted(outcome);
	}

	private static void failStatement(Work work) {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> work.jdbc().queryForList("select 1 / 0"));
	}

	/**
	 * The connection of a transaction of JTA is not known.
	 */
	private void assertNotCommitted(Outcome outcome) {
		assumeThat(this.manager).isNotEqualTo(Manager.JTA_LIKE);
		outcome.leavesNone();
		assertThat(outcome.work().told()).hasSize(1).doesNotContain(End.COMMITTED);
		outcome.tells(outcome.work().told().get(0));
	}

	@Test
	void tellsNoCommitIfADeferredConstraintFails() {
		JdbcTemplate observer = database().observer();
		observer.execute("drop table if exists observed_once");
		observer.execute("create table observed_once (n int unique deferrable initially deferred)");
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			work.jdbc().update("insert into observed_once values (1), (1)");
		}).fails();
		// DataSourceTransactionManager does not report why the commit has failed.
		outcome.tells((this.manager == Manager.DATA_SOURCE) ? End.UNKNOWN : End.ROLLED_BACK).leavesNone();
	}

	/**
	 * As a driver does that fails over: it reports {@code 08007}, and the connection
	 * answers again, in another session.
	 */
	@Test
	void tellsNothingIfTheReplyToTheCommitIsLostAndTheDriverConnectsAgain() {
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			database().loseReply(database()::connectAgain);
		}).fails();
		outcome.tells(End.UNKNOWN).leavesAll();
	}

}
