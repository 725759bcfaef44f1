package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.stream.Stream;

import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.saga.store.SagaStore;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link InMemorySagaStore}.
 */
class InMemorySagaStoreTests extends AbstractSagaStoreTests {

	private ManualClock clock = new ManualClock();

	private InMemorySagaStore sagas = new InMemorySagaStore(this.clock, Duration.ofMinutes(1));

	@Override
	protected SagaStore store(Duration lockTimeout) {
		return this.sagas.withLockTimeout(lockTimeout);
	}

	@Override
	protected SagaAdministration administration() {
		return this.sagas;
	}

	@Override
	protected TransactionTemplate transactions() {
		return new TransactionTemplate(new ThreadTransactions());
	}

	@Override
	protected void pass(Duration time) {
		this.clock.advance(time);
	}

	@Override
	protected void awaitAWaitingInsert() {
		await().until(() -> Thread.getAllStackTraces()
			.values()
			.stream()
			.anyMatch((frames) -> Stream.of(frames).anyMatch((frame) -> frame.getMethodName().equals("free"))));
	}

	@Override
	protected int sweep() {
		return this.sagas.sweep();
	}

	@Override
	protected void clear() {
		this.clock = new ManualClock();
		this.sagas = new InMemorySagaStore(this.clock, Duration.ofMinutes(1));
	}

	/**
	 * Transactions that consist of their synchronizations.
	 */
	private static final class ThreadTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
