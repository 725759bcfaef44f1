package dev.idempotent.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.testing.FailingListener;
import dev.idempotent.transaction.ObservedDatabase.ObservedEntity;
import dev.idempotent.transaction.TransactionBench.Entry;
import dev.idempotent.transaction.TransactionBench.Manager;
import dev.idempotent.transaction.TransactionBench.Outcome;
import dev.idempotent.transaction.TransactionBench.Work;
import jakarta.persistence.EntityManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the participants of a transaction are told of its end is what another connection
 * sees, whatever manager and database it has.
 */
@ParameterizedClass(name = "{0}, {1}")
@MethodSource("dev.idempotent.transaction.AbstractObservedTransactionTests#managers")
abstract class AbstractObservedTransactionTests {

	@Parameter(0)
	@SuppressWarnings("NullAway.Init")
	Manager manager;

	@Parameter(1)
	@SuppressWarnings("NullAway.Init")
	Entry entry;

	@SuppressWarnings("NullAway.Init")
	TransactionBench bench;

	static Stream<Arguments> managers() {
		return Stream.of(Manager.values())
			.flatMap((manager) -> Stream.of(Entry.values()).map((entry) -> Arguments.of(manager, entry)));
	}

	abstract ObservedDatabase database();

	/**
	 * Another one, with another data source.
	 */
	abstract ObservedDatabase other();

	@BeforeEach
	void prepare() {
		this.bench = new TransactionBench(database(), this.manager, this.entry);
	}

	/**
	 * A manager may have left a transaction.
	 */
	@AfterEach
	void clean() {
		if (this.bench.manager() instanceof JtaLikeTransactionManager jta && jta.isOpen()) {
			jta.endOutside(false);
		}
		boolean unused = TransactionGuard.endLeftTransaction((failure) -> {
		});
		List.copyOf(TransactionSynchronizationManager.getResourceMap().keySet())
			.forEach(TransactionSynchronizationManager::unbindResource);
		TransactionSynchronizationManager.clear();
		database().closeOpen();
		other().closeOpen();
	}

	final End rolledBack() {
		return (committed() == End.UNKNOWN) ? End.UNKNOWN : End.ROLLED_BACK;
	}

	/**
	 * The connection of a transaction of JTA is gone when the commit is confirmed.
	 */
	private End committed() {
		return (this.manager == Manager.JTA_LIKE && this.entry == Entry.JOINED) ? End.UNKNOWN : End.COMMITTED;
	}

	@Test
	void tellsTheCommitOfWorkAndLastStatement() {
		Outcome outcome = this.bench.run(Work::writeAll).succeeds().tells(committed());
		outcome.leavesAll();
		assertThat(outcome.work().committedCalls()).isOne();
		assertThat(outcome.work().completingCalls()).isOne();
	}

	@Test
	void tellsTheCommitOfWorkWithoutALastStatement() {
		this.bench.run((work) -> work.participate().write()).succeeds().tells(committed()).leavesAll();
	}

	@Test
	void tellsTheRollbackOfWorkThatFails() {
		IllegalStateException failure = new IllegalStateException("The work fails");
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			throw failure;
		}).fails(failure).tells(End.ROLLED_BACK);
		outcome.leavesNone();
		assertThat(outcome.work().committedCalls()).isZero();
		assertThat(outcome.work().completingCalls()).isOne();
	}

	@Test
	void tellsTheRollbackOfWorkThatMarksTheTransaction() {
		List<TransactionExecution> begun = begun();
		this.bench.run((work) -> {
			work.writeAll();
			begun.get(0).setRollbackOnly();
		}).succeeds().tells(End.ROLLED_BACK).leavesNone();
	}

	private List<TransactionExecution> begun() {
		List<TransactionExecution> begun = new ArrayList<>();
		this.bench.manager().addListener(new TransactionExecutionListener() {

			@Override
			public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
				begun.add(transaction);
			}

		});
		return begun;
	}

	@Test
	void tellsTheRollbackOfWorkWhoseInnerScopeMarksTheTransaction() {
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			TransactionScope inner = TransactionScope.begin(this.bench.manager(), new DefaultTransactionDefinition());
			assertThat(inner.isNew()).isFalse();
			inner.rollback();
		}).tells(End.ROLLED_BACK);
		outcome.leavesNone();
		assertThat(outcome.failure()).isInstanceOf(UnexpectedRollbackException.class);
	}

	@Test
	void tellsTheCommitOfWorkWhoseInnerScopeCommits() {
		this.bench.run((work) -> {
			work.participate().write();
			TransactionScope inner = TransactionScope.begin(this.bench.manager(), new DefaultTransactionDefinition());
			work.write();
			inner.commit();
			assertThat(work.told()).isEmpty();
		}).succeeds().tells(committed()).leavesAll();
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheRollbackIfACallbackBeforeTheCommitFailsBeforeTheLastStatement(Failure failure) {
		RuntimeException thrown = failure.create();
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			register(Moment.BEFORE_COMMIT, raising(thrown));
			work.writeLast();
		}).fails(thrown);
		assertNotCommitted(outcome, failure);
		assertThat(outcome.work().completingCalls()).isEqualTo((failure == Failure.ORDINARY) ? 1 : 0);
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheRollbackIfACallbackBeforeTheCommitFailsAfterTheLastStatement(Failure failure) {
		RuntimeException thrown = failure.create();
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			register(Moment.BEFORE_COMMIT, raising(thrown));
		}).fails(thrown);
		assertNotCommitted(outcome, failure);
	}

	/**
	 * A manager of JTA does not end the transaction if such a callback throws an
	 * exception of Spring's transactions, and there is no connection to roll back.
	 */
	private void assertNotCommitted(Outcome outcome, Failure failure) {
		if (this.manager == Manager.JTA_LIKE && failure != Failure.ORDINARY) {
			assertThat(outcome.left()).contains("a transaction of JTA");
			outcome.tellsAtLeast(End.UNKNOWN).leavesNone();
		}
		else {
			outcome.tells(End.ROLLED_BACK).leavesNone();
		}
	}

	/**
	 * Hibernate keeps the connection of a session that is closed in a transaction.
	 */
	@ParameterizedTest
	@EnumSource
	void givesTheConnectionBackIfACallbackBeforeTheCommitFails(Failure failure) {
		RuntimeException thrown = failure.create();
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			register(Moment.BEFORE_COMMIT, raising(thrown));
		}).fails(thrown);
		assertThat(outcome.open()).isEqualTo((this.manager == Manager.JTA_LIKE && failure != Failure.ORDINARY) ? 1 : 0);
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheCommitIfACallbackBeforeTheCompletionFails(Failure failure) {
		this.bench.run((work) -> {
			register(Moment.BEFORE_COMPLETION, raising(failure.create()));
			work.writeAll();
			register(Moment.BEFORE_COMPLETION, raising(failure.create()));
		}).succeeds().tells(committed()).leavesAll();
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheRollbackIfACallbackBeforeTheCompletionFails(Failure failure) {
		IllegalStateException thrown = new IllegalStateException("The work fails");
		this.bench.run((work) -> {
			work.writeAll();
			register(Moment.BEFORE_COMPLETION, raising(failure.create()));
			throw thrown;
		}).fails(thrown).tells(End.ROLLED_BACK).leavesNone();
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheCommitIfACallbackAfterTheCommitFails(Failure failure) {
		RuntimeException thrown = failure.create();
		Outcome outcome = this.bench.run((work) -> {
			register(Moment.AFTER_COMMIT, raising(thrown));
			work.writeAll();
		}).fails(thrown).tells(committed());
		outcome.leavesAll();
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheCommitIfACallbackAfterTheCompletionFails(Failure failure) {
		this.bench.run((work) -> {
			register(Moment.AFTER_COMPLETION, raising(failure.create()));
			work.writeAll();
		}).succeeds().tells(committed()).leavesAll();
	}

	/**
	 * Spring takes an exception of its transactions for one of the commit: it does not
	 * roll back, and reports either a rollback or nothing. A transaction of JTA is left
	 * to its timeout, which rolls it back.
	 */
	@ParameterizedTest
	@EnumSource
	void tellsNoCommitIfAListenerBeforeTheCommitFails(Failure failure) {
		RuntimeException thrown = failure.create();
		FailingListener.of(this.bench.manager()).failBeforeCommit(thrown);
		End end = (failure == Failure.NO_TRANSACTION) ? End.UNKNOWN : End.ROLLED_BACK;
		Outcome outcome = this.bench.run(Work::writeAll).fails(thrown);
		if (this.manager == Manager.JTA_LIKE && failure != Failure.ORDINARY) {
			assertThat(outcome.left()).contains("a transaction of JTA");
			outcome.tellsAtLeast(end).leavesNone();
		}
		else {
			outcome.tells(end).leavesNone();
		}
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheRollbackIfAListenerBeforeTheRollbackFails(Failure failure) {
		FailingListener.of(this.bench.manager()).failBeforeRollback(failure.create());
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			throw new IllegalStateException("The work fails");
		}).fails();
		if (this.manager == Manager.JTA_LIKE) {
			assertThat(outcome.left()).contains("a transaction of JTA");
			outcome.tellsAtLeast(End.UNKNOWN).leavesNone();
		}
		else {
			outcome.tells(End.ROLLED_BACK).leavesNone();
		}
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheCommitIfAListenerAfterTheCommitFails(Failure failure) {
		RuntimeException thrown = failure.create();
		FailingListener.of(this.bench.manager()).failAfterCommit(thrown);
		this.bench.run(Work::writeAll).fails(thrown).tells(committed()).leavesAll();
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheRollbackIfTheLastStatementFails(Failure failure) {
		RuntimeException thrown = failure.create();
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			work.transaction().lastStatement(raising(thrown));
		}).fails(thrown);
		assertNotCommitted(outcome, failure);
	}

	/**
	 * Spring swallows what it throws, and goes on to commit.
	 */
	@ParameterizedTest
	@EnumSource
	void tellsNoCommitIfALateLastStatementFails(Failure failure) {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			register(Moment.BEFORE_COMMIT, () -> work.transaction().lastStatement(raising(failure.create())));
		});
		outcome.fails().tells(End.ROLLED_BACK).leavesNone();
	}

	@Test
	void tellsNoCommitIfTheRowsAreNotConfirmed() {
		Outcome outcome = this.bench.run((work) -> {
			work.confirmRows().writeAll();
			work.jdbc().update("delete from observed_row where work = ?", work.id());
		});
		outcome.fails().tells(rolledBack()).leavesNone();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tellsTheCommitOfAParticipantAddedBeforeTheCommit(boolean observed) {
		this.bench.run((work) -> {
			observe(work, observed);
			register(Moment.BEFORE_COMMIT, work::writeAll);
		}).succeeds().tells(End.COMMITTED).leavesAll();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tellsTheCommitOfAParticipantAddedBeforeTheCompletion(boolean observed) {
		AtomicBoolean refused = new AtomicBoolean();
		this.bench.run((work) -> {
			observe(work, observed);
			register(Moment.BEFORE_COMPLETION, () -> {
				work.participate().write();
				assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(work::writeLast);
				refused.set(true);
			});
		}).succeeds().tells(End.COMMITTED).leavesAll();
		assertThat(refused).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tellsTheRollbackOfAParticipantAddedBeforeTheCompletion(boolean observed) {
		IllegalStateException thrown = new IllegalStateException("The work fails");
		Outcome outcome = this.bench.run((work) -> {
			observe(work, observed);
			register(Moment.BEFORE_COMPLETION, () -> work.participate().write());
			throw thrown;
		}).fails(thrown);
		assertThat(outcome.work().told()).hasSize(1).doesNotContain(End.COMMITTED);
		outcome.tells(outcome.work().told().get(0)).leavesNone();
	}

	/**
	 * Such a row is not part of the transaction; whether it is committed depends on the
	 * connection.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tellsNoCommitOfAParticipantAddedAfterTheCommit(boolean observed) {
		AtomicBoolean seen = new AtomicBoolean();
		Outcome outcome = this.bench.run((work) -> {
			observe(work, observed);
			register(Moment.AFTER_COMMIT, () -> {
				assertThat(work.transaction().isCommitted()).isTrue();
				assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(work::writeLast);
				work.participate().write();
				seen.set(true);
			});
		}).succeeds();
		assertThat(seen).isTrue();
		outcome.work().requireTruth();
		assertThat(outcome.work().told()).containsExactly(End.UNKNOWN);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void findsNoTransactionAfterTheCompletion(boolean observed) {
		List<@Nullable ObservedTransaction> found = new ArrayList<>();
		Outcome outcome = this.bench.run((work) -> {
			observe(work, observed);
			register(Moment.AFTER_COMPLETION, () -> {
				found.add(ObservedTransaction.current());
				found.add(ObservedTransaction.known());
			});
			work.write();
		}).succeeds();
		assertThat(found).hasSize(2).containsOnlyNulls();
		assertThat(outcome.left()).isEmpty();
		outcome.leavesAll();
	}

	private static void observe(Work work, boolean observed) {
		if (observed) {
			assertThat(work.transaction().isCommitting()).isFalse();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tellsTheEndOfEachOfTwoTransactionsOnOneDatabase(boolean innerFails) {
		assertEachIsTold(this.bench, innerFails);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tellsTheEndOfEachOfTwoTransactionsOnTwoDatabases(boolean innerFails) {
		assertEachIsTold(new TransactionBench(other(), this.manager, this.entry), innerFails);
	}

	private void assertEachIsTold(TransactionBench inside, boolean innerFails) {
		Work inner = inside.work();
		IllegalStateException failure = new IllegalStateException("One of the transactions fails");
		Outcome outcome = this.bench.run((outer) -> {
			outer.writeAll();
			Consumer<Work> work = innerFails ? (each) -> {
				each.writeAll();
				throw failure;
			} : Work::writeAll;
			try {
				inside.inScope(inner, TransactionDefinition.PROPAGATION_REQUIRES_NEW, work);
			}
			catch (IllegalStateException ex) {
				assertThat(ex).isSameAs(failure);
			}
			assertThat(outer.told()).isEmpty();
			assertThat(inner.told()).containsExactly(innerFails ? End.ROLLED_BACK : committed());
			outer.write();
			if (!innerFails) {
				throw failure;
			}
		});
		inner.requireTruth();
		assertThat(inner.told()).containsExactly(innerFails ? End.ROLLED_BACK : committed());
		if (innerFails) {
			outcome.succeeds().tells(committed()).leavesAll();
		}
		else {
			outcome.fails(failure).tells(End.ROLLED_BACK).leavesNone();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void undoesWhatIsOlderOrYoungerThanASavepoint(boolean addedBefore) {
		Outcome outcome = this.bench.run((work) -> {
			if (addedBefore) {
				work.participate();
			}
			work.write();
			TransactionStatus nested;
			try {
				nested = this.bench.manager()
					.getTransaction(new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NESTED));
			}
			catch (NestedTransactionNotSupportedException ex) {
				assertThat(this.manager).isIn(Manager.JPA, Manager.JTA_LIKE);
				throw ex;
			}
			if (!addedBefore) {
				work.participate();
			}
			Work undone = this.bench.work();
			undone.participate().write();
			if (addedBefore) {
				work.write();
			}
			this.bench.manager().rollback(nested);
			assertThat(undone.undoneCalls()).isOne();
			assertThat(work.undoneCalls()).isEqualTo(addedBefore ? 0 : 1);
			assertThat(work.told()).isEmpty();
			work.write();
			register(Moment.AFTER_COMPLETION, () -> assertThat(database().rows(undone.id())).isZero());
		});
		if (outcome.failure() instanceof NestedTransactionNotSupportedException) {
			assertThat(outcome.left()).isEmpty();
			outcome.leavesNone();
		}
		else {
			outcome.succeeds().tells(End.COMMITTED).leavesAll();
			assertThat(outcome.rows()).isEqualTo(2);
		}
	}

	@Test
	void tellsNothingIfTheSessionIsKilledBeforeTheCommit() {
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			long session = database().session(work.jdbc());
			this.bench.manager().addListener(new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					if (transaction.isNewTransaction() && work.told().isEmpty()) {
						database().kill(session);
					}
				}

			});
		}).fails();
		outcome.tells(End.UNKNOWN).leavesNone();
	}

	/**
	 * The rollback fails too, but the database does it.
	 */
	@Test
	void tellsTheRollbackIfTheSessionIsKilledDuringTheWork() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			database().kill(database().session(work.jdbc()));
			work.write();
		}).fails();
		assertThat(outcome.work().told()).hasSize(1).doesNotContain(End.COMMITTED);
		outcome.tells(outcome.work().told().get(0)).leavesNone();
	}

	@Test
	void tellsNothingIfTheReplyToTheCommitIsLostWithTheSession() {
		Outcome outcome = this.bench.run((work) -> {
			work.writeAll();
			long session = database().session(work.jdbc());
			database().loseReply(() -> database().disconnect(session));
		}).fails();
		outcome.tells(End.UNKNOWN).leavesAll();
	}

	@Test
	void tellsNothingIfTheWorkClearsTheSynchronizations() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			TransactionSynchronizationManager.clearSynchronization();
		}).fails();
		assertThat(outcome.work().told()).isEmpty();
		assertThat(outcome.work().transaction().end()).isEqualTo(End.UNKNOWN);
		if (this.entry == Entry.OWN) {
			outcome.leavesNone();
		}
	}

	@Test
	void refusesAManagerWithoutSynchronizations() {
		this.bench.manager().setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		Outcome outcome = this.bench.run((work) -> {
			assertThat(this.entry).isNotEqualTo(Entry.OWN);
			assertThat(ObservedTransaction.current()).isNull();
			work.write();
		});
		assertThat(outcome.left()).isEmpty();
		if (this.entry == Entry.OWN) {
			assertThat(outcome.failure()).isInstanceOf(IdempotentConfigurationException.class);
			outcome.leavesNone();
		}
		else {
			outcome.succeeds().leavesAll();
		}
	}

	@Test
	void tellsNothingIfTheCommitOfTheManagerDoesNothing() {
		Outcome outcome = this.bench.through(WithoutCommit::new).run((work) -> work.participate().write());
		outcome.succeeds().leavesNone();
		assertThat(outcome.left()).isNotEmpty();
		assertThat(outcome.work().told()).isEmpty();
		assertThat(outcome.work().transaction().end()).isEqualTo(End.UNKNOWN);
		clean();
		clean();
		prepare();
		this.bench.run((work) -> work.participate().write()).succeeds().tells(committed()).leavesAll();
		assertThat(database().rows(outcome.work().id())).isZero();
	}

	/**
	 * JPA writes it behind all callbacks, others write at once.
	 */
	@Test
	void tellsTheCommitOfWhatIsWrittenDuringTheCommit() {
		this.bench.run((work) -> {
			work.writeAll();
			register(Moment.BEFORE_COMPLETION, () -> writeEntity(work, 2));
		}).succeeds().tells(End.COMMITTED).leavesAll();
	}

	@Test
	void tellsTheRollbackOfWhatIsRefusedDuringTheCommit() {
		Outcome outcome = this.bench.run((work) -> {
			work.participate().write();
			writeEntity(work, 0);
		}).fails();
		outcome.tells(End.ROLLED_BACK).leavesNone();
	}

	private void writeEntity(Work work, int n) {
		if (this.manager == Manager.JPA) {
			EntityManager entities = Objects
				.requireNonNull(EntityManagerFactoryUtils.getTransactionalEntityManager(database().factory()));
			entities.persist(new ObservedEntity(work.id(), n));
			work.written();
		}
		else {
			work.write(n);
		}
	}

	static Runnable raising(RuntimeException failure) {
		return () -> {
			throw failure;
		};
	}

	/**
	 * Registers a callback for one moment.
	 */
	static void register(Moment moment, Runnable callback) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				run(Moment.BEFORE_COMMIT);
			}

			@Override
			public void beforeCompletion() {
				run(Moment.BEFORE_COMPLETION);
			}

			@Override
			public void afterCommit() {
				run(Moment.AFTER_COMMIT);
			}

			@Override
			public void afterCompletion(int status) {
				run(Moment.AFTER_COMPLETION);
			}

			private void run(Moment now) {
				if (now == moment) {
					callback.run();
				}
			}

		});
	}

	/**
	 * Its transactions are never committed.
	 */
	private record WithoutCommit(PlatformTransactionManager real) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			return this.real.getTransaction(definition);
		}

		@Override
		public void commit(TransactionStatus status) {
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.real.rollback(status);
		}

	}

	enum Moment {

		BEFORE_COMMIT, BEFORE_COMPLETION, AFTER_COMMIT, AFTER_COMPLETION

	}

	@SuppressWarnings("ImmutableEnumChecker") // Functions without a state.
	enum Failure {

		ORDINARY(IllegalStateException::new),

		ROLLBACK(UnexpectedRollbackException::new),

		NO_TRANSACTION(CannotCreateTransactionException::new);

		private final Function<String, RuntimeException> type;

		Failure(Function<String, RuntimeException> type) {
			this.type = type;
		}

		RuntimeException create() {
			return this.type.apply("A callback fails");
		}

	}

}
