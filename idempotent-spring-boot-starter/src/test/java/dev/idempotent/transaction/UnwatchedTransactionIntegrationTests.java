package dev.idempotent.transaction;

import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.AbstractObservedTransactionTests.Moment;
import dev.idempotent.transaction.TransactionBench.Entry;
import dev.idempotent.transaction.TransactionBench.Manager;
import dev.idempotent.transaction.TransactionBench.Outcome;
import dev.idempotent.transaction.TransactionBench.Work;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.UnexpectedRollbackException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The transactions of callers whose manager is not a bean: nothing tells which
 * connections they commit.
 */
@ParameterizedClass(name = "{0}, {1}")
@MethodSource("managers")
class UnwatchedTransactionIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase database;

	@Parameter(0)
	@SuppressWarnings("NullAway.Init")
	Manager manager;

	@Parameter(1)
	@SuppressWarnings("NullAway.Init")
	Entry entry;

	@SuppressWarnings("NullAway.Init")
	private TransactionBench bench;

	static Stream<Arguments> managers() {
		return Stream.of(Manager.DATA_SOURCE, Manager.JDBC, Manager.JPA)
			.flatMap((manager) -> Stream.of(Entry.JOINED, Entry.JOINED_ELSEWHERE)
				.map((entry) -> Arguments.of(manager, entry)));
	}

	@BeforeAll
	static void create() {
		database = AbstractPostgresTransactionTests.create(postgres.connect(), postgres.connect());
	}

	@AfterAll
	static void close() {
		database.close();
	}

	@BeforeEach
	void prepare() {
		this.bench = new TransactionBench(database, this.manager, this.entry).unwatched();
	}

	@AfterEach
	void closeOpen() {
		database.closeOpen();
	}

	@Test
	void tellTheCommit() {
		this.bench.run((work) -> work.participate().write()).succeeds().tells(End.COMMITTED).leavesAll();
	}

	@Test
	void tellTheRollback() {
		IllegalStateException failure = new IllegalStateException("The work fails");
		this.bench.run((work) -> {
			work.participate().write();
			throw failure;
		}).fails(failure).tells(End.ROLLED_BACK).leavesNone();
	}

	@Test
	void tellNoCommitIfAStatementHasFailed() {
		assertNotCommitted(this.bench.run((work) -> {
			work.participate().write();
			failStatement(work);
		}));
	}

	@Test
	void tellNoCommitOfAParticipantAddedBeforeTheCompletionIfAStatementHasFailed() {
		assertNotCommitted(this.bench.run((work) -> {
			AbstractObservedTransactionTests.register(Moment.BEFORE_COMPLETION, () -> {
				work.participate().write();
				failStatement(work);
			});
			work.jdbc().queryForList("select 1");
		}));
	}

	private static void failStatement(Work work) {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> work.jdbc().queryForList("select 1 / 0"));
	}

	private static void assertNotCommitted(Outcome outcome) {
		outcome.leavesNone();
		assertThat(outcome.work().told()).hasSize(1).doesNotContain(End.COMMITTED);
	}

	@Test
	void tellNoRollbackIfTheReplyToTheCommitIsLost() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			database.loseReply(database::connectAgain);
		}).fails();
		outcome.tells(End.UNKNOWN).leavesAll();
	}

	@Test
	void tellNoRollbackIfTheReplyToTheCommitIsLostWithTheSession() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			long session = database.session(work.jdbc());
			database.loseReply(() -> database.disconnect(session));
		}).fails();
		outcome.tells(End.UNKNOWN).leavesAll();
	}

	/**
	 * Spring takes it for a rollback, and resets the connection, which commits.
	 */
	@Test
	void tellTheTruthIfAListenerBeforeTheCommitFails() {
		this.bench.manager().setTransactionExecutionListeners(List.of(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				throw new UnexpectedRollbackException("of the test");
			}

		}));
		Outcome outcome = this.bench.run((work) -> work.participate().write()).fails();
		assertThat(outcome.work().told()).hasSize(1).doesNotContain(End.COMMITTED);
		outcome.work().requireTruth();
	}

}
