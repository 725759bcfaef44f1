package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StoredStep;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static dev.idempotent.saga.engine.SagaSamples.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a {@link SagaStore} promises to transactions of the application.
 */
abstract class SagaTransactionsContract extends SagaOwnershipContract {

	private static final Duration SHORT = Duration.ofMillis(100);

	protected final List<JournalEntry> done = List.of(SagaSamples.done("order", 1));

	@Test
	void insertsASagaWithTheWorkOfItsFirstStep() {
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.insertInTransaction(this.saga)).isTrue();
			assertThat(this.store.find(this.saga.id())).isNull();
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isTrue();
		});
		assertThat(find().steps()).isEqualTo(1);
		assertThat(find().journal()).extracting(StoredStep::entry)
			.usingRecursiveFieldByFieldElementComparator()
			.isEqualTo(this.done);
	}

	@Test
	void startsASagaIfTheTransactionCommits() {
		NewSaga started = SagaSamples.saga("checkout", SagaStatus.STARTED);
		transactions().executeWithoutResult((status) -> assertThat(this.store.insertInTransaction(started)).isTrue());
		assertThat(this.store.find(started.id()))
			.satisfies((found) -> assertThat(found.status()).isEqualTo(SagaStatus.STARTED))
			.satisfies((found) -> assertThat(found.steps()).isZero());
		transactions().executeWithoutResult((status) -> assertThat(this.store.insertInTransaction(started)).isFalse());
	}

	@Test
	void forgetsAnInsertThatIsRolledBack() {
		transactions().executeWithoutResult((status) -> {
			this.store.insertInTransaction(this.saga);
			status.setRollbackOnly();
		});
		assertThat(this.store.find(this.saga.id())).isNull();
	}

	@Test
	void writesAStepWithTheTransactionOfItsWork() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isTrue();
			assertThat(find().steps()).isZero();
		});
		assertThat(find().steps()).isEqualTo(1);
		assertThat(find().journal()).hasSize(1);
	}

	@Test
	void writesAStepAndLeavesItsLease() {
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.insertInTransaction(this.saga)).isTrue();
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, Duration.ZERO)).isTrue();
		});
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 2, LEASE)).isTrue();
			assertThat(
					this.store.writeInTransaction(this.owner, 2, List.of(SagaSamples.done("hold", 2)), Duration.ZERO))
				.isTrue();
		});
		assertThat(find().journal()).extracting((step) -> step.entry().name()).containsExactly("order", "hold");
		assertThat(find().due()).isPositive().isLessThanOrEqualTo(LEASE);
	}

	@Test
	void renewsALeaseAfterLongWork() {
		this.store.insert(this.saga, List.of());
		pass(LEASE.minus(SECOND));
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE);
			this.store.writeInTransaction(this.owner, 1, List.of(), LEASE.multipliedBy(3));
		});
		assertThat(find().due()).isGreaterThan(LEASE.multipliedBy(2));
	}

	@Test
	void renewsALeaseOfWhichAThirdIsUsed() {
		this.store.insert(this.saga, List.of());
		pass(LEASE.dividedBy(2));
		this.store.write(this.owner, SagaStatus.EXECUTING, 1, List.of(), LEASE);
		assertThat(find().due()).isGreaterThan(LEASE.multipliedBy(2).dividedBy(3));
		pass(LEASE.dividedBy(2));
		transactions()
			.executeWithoutResult((status) -> this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 2, LEASE));
		assertThat(find().due()).isGreaterThan(LEASE.multipliedBy(2).dividedBy(3));
	}

	@Test
	void replacesAnEntryWithTheTransactionOfItsUndo() {
		this.store.insert(this.saga, this.done);
		this.store.change(this.owner, compensate("declined"), List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.COMPENSATING, 2, LEASE);
			this.store.writeInTransaction(this.owner, 2, List.of(this.done.get(0).in(StepState.COMPENSATED)), LEASE);
		});
		assertThat(find().journal()).extracting((step) -> step.entry().state()).containsExactly(StepState.COMPENSATED);
	}

	@Test
	void forgetsAStepThatIsRolledBack() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE);
			this.store.writeInTransaction(this.owner, 1, this.done, LEASE);
			status.setRollbackOnly();
		});
		assertThat(find().steps()).isZero();
		assertThat(find().journal()).isEmpty();
		transactions().executeWithoutResult(
				(status) -> assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE))
					.isTrue());
	}

	@Test
	void locksOnlyForTheOwnerInTime() {
		this.store.insert(this.saga, this.done);
		transactions().executeWithoutResult((status) -> {
			assertThat(this.store.lockInTransaction(new SagaOwner(this.saga.id(), 2), SagaStatus.EXECUTING, 2, LEASE))
				.isFalse();
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.COMPENSATING, 2, LEASE)).isFalse();
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isFalse();
		});
		pass(TIMEOUT);
		transactions().executeWithoutResult(
				(status) -> assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 2, LEASE))
					.isFalse());
	}

	@Test
	void writesOnlyWithTheLock() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			for (Duration lease : List.of(LEASE, Duration.ZERO)) {
				assertThat(this.store.writeInTransaction(this.owner, 1, this.done, lease)).isFalse();
				assertThat(this.store.writeInTransaction(this.owner, 1, List.of(), lease)).isFalse();
			}
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE);
			for (Duration lease : List.of(LEASE, Duration.ZERO)) {
				assertThat(this.store.writeInTransaction(this.owner, 2, this.done, lease)).isFalse();
				assertThat(this.store.writeInTransaction(new SagaOwner(this.saga.id(), 2), 1, this.done, lease))
					.isFalse();
			}
		});
		assertThat(find().journal()).isEmpty();
	}

	@Test
	void skipsASagaThatATransactionHasLocked() {
		NewSaga free = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(this.saga, List.of());
		pass(SECOND);
		this.store.insert(free, List.of());
		pass(LEASE);
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, SECOND);
			this.store.renew(List.of(this.owner), TIMEOUT);
			assertThat(this.store.takeOver(this.saga.id(), "second", LEASE)).isNull();
			assertThat(this.store.takeOverDue(SERVED, "second", LEASE, 1)).extracting((taken) -> taken.owner().id())
				.containsExactly(free.id());
		});
		assertThat(find().due()).isLessThanOrEqualTo(SECOND);
		assertThat(find().owner()).isEqualTo(this.owner);
	}

	@Test
	void leavesASagaDueThatRunsPastItsDeadline() {
		this.store.insert(this.saga, List.of());
		pass(TIMEOUT);
		this.store.renew(List.of(this.owner), LEASE);
		assertThat(Objects.requireNonNull(takeOver()).status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	@Test
	void renewsWhileAnotherSagaIsLocked() {
		NewSaga free = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(this.saga, List.of());
		this.store.insert(free, List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, SECOND);
			this.store.renew(List.of(this.owner, free.owner()), TIMEOUT);
			assertThat(Objects.requireNonNull(this.store.find(free.id())).due()).isGreaterThan(LEASE);
		});
	}

	@Test
	void limitsTheWaitForAnotherTransactionThatInserts() {
		transactions().executeWithoutResult((status) -> {
			this.store.insertInTransaction(this.saga);
			assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> store(SHORT).insert(this.saga, this.done));
			assertThat(onAnotherThread(() -> assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> transactions(SHORT)
					.executeWithoutResult((other) -> store(SHORT).insertInTransaction(this.saga)))))
				.succeedsWithin(1, TimeUnit.MINUTES);
		});
		assertThat(find().journal()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void waitsForAnotherTransactionThatInserts(boolean commits) throws Exception {
		CompletableFuture<Boolean> late = new CompletableFuture<>();
		transactions().executeWithoutResult((status) -> {
			this.store.insertInTransaction(this.saga);
			CompletableFuture<Void> unused = onAnotherThread(
					() -> late.complete(this.store.insert(this.saga, this.done)));
			awaitAWaitingInsert();
			if (!commits) {
				status.setRollbackOnly();
			}
		});
		assertThat(late.get(1, TimeUnit.MINUTES)).isNotEqualTo(commits);
		assertThat(find().journal()).hasSize(commits ? 0 : 1);
	}

	@Test
	void commitsByItselfWhateverTheTransactionOfTheThreadDoes() {
		this.store.insert(this.saga, List.of());
		transactions().executeWithoutResult((status) -> {
			this.store.write(this.owner, SagaStatus.EXECUTING, 1, this.done, LEASE);
			status.setRollbackOnly();
		});
		assertThat(find().journal()).hasSize(1);
	}

	@Test
	void needsATransactionForWhatBelongsToOne() {
		this.store.insert(this.saga, List.of());
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.store.insertInTransaction(this.saga));
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE));
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.store.writeInTransaction(this.owner, 0, this.done, LEASE));
	}

	/**
	 * Transactions on the database of {@link #store(Duration)}.
	 */
	protected TransactionTemplate transactions(Duration lockTimeout) {
		return transactions();
	}

	/**
	 * Waits until an insert waits for a transaction.
	 */
	protected abstract void awaitAWaitingInsert();

	protected static CompletableFuture<Void> onAnotherThread(Runnable work) {
		CompletableFuture<Void> end = new CompletableFuture<>();
		new Thread(() -> {
			try {
				work.run();
				end.complete(null);
			}
			catch (Throwable ex) {
				end.completeExceptionally(ex);
			}
		}, "another").start();
		return end;
	}

}
