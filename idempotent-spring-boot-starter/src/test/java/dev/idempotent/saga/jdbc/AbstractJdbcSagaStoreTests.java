package dev.idempotent.saga.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.AbstractSagaStoreTests;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaAdministration.Page;
import dev.idempotent.saga.engine.SagaSamples;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.StatusChange;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * All promises for a {@link JdbcSagaStore} on one database.
 */
abstract class AbstractJdbcSagaStoreTests extends AbstractSagaStoreTests {

	abstract SagaRows rows();

	@Override
	protected SagaStore store(Duration lockTimeout) {
		return new JdbcSagaStore(new OwnTransactions(rows().dataSource()), rows().tables().prefix(), lockTimeout,
				Duration.ofMinutes(10));
	}

	@Override
	protected SagaAdministration administration() {
		return new JdbcSagaAdministration(new OwnTransactions(rows().dataSource()), rows().tables().prefix(),
				SagaSamples.RETENTION);
	}

	@Override
	protected TransactionTemplate transactions() {
		return new TransactionTemplate(new DataSourceTransactionManager(rows().dataSource()));
	}

	@Override
	protected void pass(Duration time) {
		rows().pass(time);
	}

	@Override
	protected int sweep() {
		return new JdbcSagaAdministration(new OwnTransactions(rows().dataSource()), rows().tables().prefix(),
				SagaSamples.RETENTION)
			.sweeper(Duration.ofMinutes(1))
			.sweep();
	}

	@Override
	protected void clear() {
		rows().clear();
	}

	@Test
	void losesTheLockByARollbackToASavepoint() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			Object before = status.createSavepoint();
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			status.rollbackToSavepoint(before);
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isFalse();
			status.setRollbackOnly();
		});
	}

	@Test
	void losesAnInsertByARollbackToASavepoint() {
		transactions().executeWithoutResult((status) -> {
			Object before = status.createSavepoint();
			assertThat(this.store.insertInTransaction(this.saga)).isTrue();
			status.rollbackToSavepoint(before);
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isFalse();
			status.setRollbackOnly();
		});
	}

	@Test
	void keepsTheLockWhenTheWorkRollsBackToItsOwnSavepoint() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			Object later = status.createSavepoint();
			status.rollbackToSavepoint(later);
			status.releaseSavepoint(later);
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isTrue();
		});
		assertThat(find().journal()).hasSize(1);
	}

	@Test
	void losesTheLockByAnImplicitCommit() {
		Assumptions.assumeFalse(rows().platform().equals("postgresql"));
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			rows().template().execute("create table if not exists committing (id integer)");
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isFalse();
			status.setRollbackOnly();
		});
		assertThat(find().journal()).isEmpty();
	}

	/**
	 * The transaction of a step may take long, and an operator does not wait for it.
	 */
	@Test
	void abortsNoSagaWhileAStepIsInATransaction() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			assertThat(administration().abort(this.saga.id(), "note")).isFalse();
		});
		assertThat(administration().abort(this.saga.id(), "note")).isTrue();
	}

	@Test
	void takesOverTheOthersIfASagaCannotBeRead() {
		this.store.insert(this.saga, List.of(SagaSamples.acting("hold", 1)));
		pass(LEASE);
		NewSaga next = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(next, List.of(SagaSamples.acting("hold", 1)));
		pass(LEASE);
		rows().template()
			.update("update " + rows().tables().step() + " set kind = 'LATER' where saga_id = ?",
					this.saga.id().digest());
		List<StoredSaga> taken = this.store.takeOverDue(List.of("checkout"), "second", LEASE, 10);
		assertThat(taken).extracting((one) -> one.owner().id()).containsExactly(this.saga.id(), next.id());
		assertThat(taken.get(0).unreadable()).contains("The step 'hold' has the kind 'LATER'");
		assertThat(taken.get(0).owner().epoch()).isEqualTo(2);
		assertThat(taken.get(0).attempts()).isOne();
		assertThat(taken.get(0).status()).isEqualTo(SagaStatus.EXECUTING);
		assertThat(taken.get(1).unreadable()).isNull();
		assertThat(taken.get(1).journal()).hasSize(1);
		pass(LEASE);
		assertThat(Objects.requireNonNull(this.store.takeOver(this.saga.id(), "third", LEASE)).unreadable())
			.isNotNull();
	}

	@Test
	void listsEachSagaOnceAlsoIfManyAreDueAtTheSameTime() {
		rows().end(20);
		rows().template()
			.update("update " + rows().tables().instance() + " set due_at = timestamp '2001-01-02 00:00:00' "
					+ "where id in ('ended 1', 'ended 19')");
		for (int limit : List.of(1, 2, 3, 5, 20)) {
			List<String> ids = new ArrayList<>();
			String after = null;
			do {
				Page page = administration().list(SagaStatus.COMPLETED, "checkout", after, limit);
				assertThat(page.sagas()).hasSizeLessThanOrEqualTo(limit);
				page.sagas().forEach((ended) -> ids.add(ended.id().digest()));
				after = page.next();
			}
			while (after != null);
			assertThat(ids).as("pages of %s", limit)
				.containsExactly("ended 1", "ended 19", "ended 10", "ended 11", "ended 13", "ended 14", "ended 16",
						"ended 17", "ended 2", "ended 4", "ended 5", "ended 7", "ended 8");
		}
	}

	@Test
	void refusesWhatIsNotTheEndOfAPage() {
		for (String after : List.of("", "o", "o1", "x1-ended", "o123456789012345678-ended")) {
			assertThatIllegalArgumentException().isThrownBy(() -> administration().list(null, null, after, 10));
		}
	}

	@Test
	void rejectsATransactionOnAnotherDataSource() {
		DataSource other = new DriverManagerDataSource("jdbc:h2:mem:other");
		new TransactionTemplate(new DataSourceTransactionManager(other))
			.executeWithoutResult((status) -> assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
				.isThrownBy(() -> this.store.insertInTransaction(this.saga)));
		assertThat(this.store.find(this.saga.id())).isNull();
	}

	@Test
	void rejectsATransactionOnAnotherDataSourceInWhichItsOwnHasBeenUsed() {
		DataSource other = new DriverManagerDataSource("jdbc:h2:mem:other");
		new TransactionTemplate(new DataSourceTransactionManager(other)).executeWithoutResult((status) -> {
			new JdbcTemplate(rows().dataSource()).queryForList("select 1");
			assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
				.isThrownBy(() -> this.store.insertInTransaction(this.saga));
		});
		assertThat(this.store.find(this.saga.id())).isNull();
	}

	@Test
	void joinsATransactionBehindAProxy() {
		SagaStore proxied = new JdbcSagaStore(
				new OwnTransactions(new TransactionAwareDataSourceProxy(rows().dataSource())), rows().tables().prefix(),
				LEASE, Duration.ofMinutes(10));
		transactions().executeWithoutResult((status) -> {
			assertThat(proxied.insertInTransaction(this.saga)).isTrue();
			assertThat(proxied.find(this.saga.id())).isNull();
		});
		assertThat(find().owner()).isEqualTo(this.owner);
	}

	@Test
	void deletesTheStepsWithTheirSaga() {
		this.store.insert(this.saga, this.done);
		this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, null, null, Duration.ofMillis(1)),
				List.of());
		pass(LEASE);
		assertThat(sweep()).isEqualTo(1);
		assertThat(rows().steps()).isZero();
	}

	@Test
	void sweepsManyOnManyInstances() throws InterruptedException {
		rows().end(1200);
		List<Integer> swept = ConcurrentRuns.of(3, (runner) -> sweep());
		assertThat(swept.stream().mapToInt(Integer::intValue).sum() + sweep()).isEqualTo(1200);
	}

	@Test
	void writesWhileItsLeaseIsRenewed() throws InterruptedException {
		this.store.insert(this.saga, List.of());
		List<Boolean> written = ConcurrentRuns.of(3, (runner) -> {
			for (int i = 1; i <= 50; i++) {
				if (runner > 0) {
					this.store.renew(List.of(this.owner), LEASE);
				}
				else if (!this.store.write(this.owner, SagaStatus.EXECUTING, i,
						List.of(SagaSamples.acting("step " + i, i)), LEASE)) {
					return false;
				}
			}
			return true;
		});
		assertThat(written).doesNotContain(false);
		assertThat(find().journal()).hasSize(50);
	}

	@Test
	void locksWhileItsLeaseIsRenewed() throws InterruptedException {
		this.store.insert(this.saga, List.of());
		List<Boolean> written = ConcurrentRuns.of(2, (runner) -> {
			for (int i = 1; i <= 30; i++) {
				if (runner > 0) {
					this.store.renew(List.of(this.owner), LEASE);
				}
				else if (!step(i)) {
					return false;
				}
			}
			return true;
		});
		assertThat(written).doesNotContain(false);
		assertThat(find().journal()).hasSize(30);
	}

	/**
	 * A step whose transaction is begun again if its first statement conflicts.
	 */
	private boolean step(int number) {
		for (int i = 0; i < 100; i++) {
			try {
				return Boolean.TRUE.equals(transactions()
					.execute((status) -> this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, number, LEASE)
							&& this.store.writeInTransaction(this.owner, number,
									List.of(SagaSamples.done("step " + number, number)), LEASE)));
			}
			catch (PessimisticLockingFailureException ex) {
				// Only above READ COMMITTED.
			}
		}
		return false;
	}

}
