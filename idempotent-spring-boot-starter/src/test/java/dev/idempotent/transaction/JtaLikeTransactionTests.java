package dev.idempotent.transaction;

import java.util.UUID;
import java.util.function.Consumer;

import dev.idempotent.transaction.TransactionBench.Entry;
import dev.idempotent.transaction.TransactionBench.Manager;
import dev.idempotent.transaction.TransactionBench.Work;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A transaction that a container has begun, in which Spring takes part: it reports the
 * commit when its own part has ended, and the completion when the transaction has.
 */
class JtaLikeTransactionTests {

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase database;

	private final TransactionBench bench = new TransactionBench(database, Manager.JTA_LIKE, Entry.JOINED_ELSEWHERE);

	private final JtaLikeTransactionManager manager = (JtaLikeTransactionManager) this.bench.manager();

	@BeforeAll
	static void create() {
		JdbcDataSource connections = new JdbcDataSource();
		connections.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		database = new ObservedDatabase(connections, connections, "select session_id()", "call abort_session(%d)");
	}

	@AfterAll
	static void close() {
		database.close();
	}

	@Test
	void tellsTheEndWhenTheContainerCommits() {
		Work work = inContainer(Work::writeAll, true);
		assertThat(work.told()).containsExactly(End.COMMITTED);
		assertThat(database.rows(work.id())).isEqualTo(2);
	}

	@Test
	void tellsTheEndWhenTheContainerRollsBack() {
		Work work = inContainer(Work::writeAll, false);
		assertThat(work.told()).doesNotContain(End.COMMITTED).hasSize(1);
		assertThat(database.rows(work.id())).isZero();
	}

	private Work inContainer(Consumer<Work> body, boolean commit) {
		Work work = this.bench.work();
		this.manager.beginOutside();
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> body.accept(work));
		assertThat(work.told()).isEmpty();
		this.manager.endOutside(commit);
		work.requireTruth();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		return work;
	}

}
