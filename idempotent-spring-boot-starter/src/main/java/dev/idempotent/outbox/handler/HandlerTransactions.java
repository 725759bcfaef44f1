package dev.idempotent.outbox.handler;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.TransactionParticipant;
import dev.idempotent.transaction.TransactionRequirements;
import dev.idempotent.transaction.TransactionScope;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.util.StringUtils;

/**
 * The transactions of one handler, each of which also deletes the event. The first
 * statement locks its row: from then on, other instances are kept away, however long the
 * handler takes. The last one deletes it, if the transaction is still the one that has
 * locked it: what a handler commits before leaves the row in the table.
 */
final class HandlerTransactions {

	private static final Logger logger = LoggerFactory.getLogger(HandlerTransactions.class);

	private static final Set<Integer> SEPARATE = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER,
			TransactionDefinition.PROPAGATION_NESTED);

	/**
	 * Why an event is not handled that has another claim.
	 */
	static final String OVERTAKEN = "Another instance has claimed the event";

	private final PlatformTransactionManager manager;

	private final TransactionDefinition definition;

	private final EventTable table;

	private HandlerTransactions(PlatformTransactionManager manager, TransactionDefinition definition,
			EventTable table) {
		this.manager = manager;
		this.definition = definition;
		this.table = table;
	}

	/**
	 * Creates the transactions of a method, with the manager, isolation and timeout of
	 * its own {@code @Transactional}. Begins one to check that it is on the outbox's
	 * database, and on no other one, unless that does not answer.
	 * @param timeout the longest duration of a transaction
	 * @throws dev.idempotent.IdempotentConfigurationException if they cannot contain the
	 * work of the method
	 */
	static HandlerTransactions of(AnnotatedMethod method, Duration timeout, BeanFactory beans) {
		TransactionAttribute attribute = beans.getBeanProvider(TransactionAttributeSource.class)
			.getIfUnique(() -> new AnnotationTransactionAttributeSource(false))
			.getTransactionAttribute(method.method(), method.type());
		if (attribute != null && (attribute.isReadOnly() || SEPARATE.contains(attribute.getPropagationBehavior()))) {
			throw method.invalid(
					"is @Transactional and does not join the transaction that removes the event (propagation or readOnly)",
					"Let its own @Transactional join a transaction that writes, leave it out, or set "
							+ "transactional = false.",
					null);
		}
		int seconds = (int) Math.min(Integer.MAX_VALUE, Math.max(1, timeout.plusMillis(999).toSeconds()));
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition(
				TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		definition.setName(method.describe());
		definition.setTimeout(seconds);
		if (attribute != null) {
			definition.setIsolationLevel(attribute.getIsolationLevel());
			definition.setTimeout((attribute.getTimeout() > 0) ? Math.min(attribute.getTimeout(), seconds) : seconds);
		}
		String named = (attribute != null && StringUtils.hasText(attribute.getQualifier())) ? attribute.getQualifier()
				: null;
		String reason = "The method " + method.describe() + " handles events in a transaction";
		String place = "its @Transactional, or set transactional = false";
		PlatformTransactionManager manager = TransactionRequirements.requireManager(beans, named, reason, place);
		EventTable table = beans.getBean(EventTable.class);
		boolean unused = TransactionRequirements.requireTransactions(manager, table.transactionResource(), reason,
				place);
		return new HandlerTransactions(manager, definition, table);
	}

	/**
	 * Whether a transaction can lock a row that was not claimed: if it does not commit,
	 * the row shows that there was an attempt.
	 */
	boolean lockUnclaimed() {
		return this.table.showsLocks();
	}

	/**
	 * Begins a transaction that locks a claimed row.
	 * @return the transaction, to be ended by the caller
	 * @throws NotCalledException if the row cannot be locked, or has another claim
	 */
	LockedEvents lock(ClaimedEvent claim) throws NotCalledException {
		LockedEvents locked = lock((longest) -> {
			Object evidence = this.table.lockInTransaction(claim, longest);
			return (evidence != null) ? new LockedRows(List.of(claim), evidence) : null;
		});
		if (locked == null) {
			throw new NotCalledException(OVERTAKEN, null);
		}
		return locked;
	}

	/**
	 * Begins a transaction that locks claimed rows.
	 * @return the transaction with those that have no other claim, to be ended by the
	 * caller
	 * @throws NotCalledException if the rows cannot be locked, or all have other claims
	 */
	LockedEvents lock(List<ClaimedEvent> claims) throws NotCalledException {
		LockedEvents locked = lock((longest) -> this.table.lockInTransaction(claims, longest));
		if (locked == null) {
			throw new NotCalledException(OVERTAKEN, null);
		}
		return locked;
	}

	/**
	 * Begins a transaction that locks a row without a claim.
	 * @return the transaction, to be ended by the caller; {@code null} if the row is not
	 * as it was read, or locked
	 * @throws NotCalledException if the row cannot be locked
	 */
	@Nullable LockedEvents lock(QueuedEvent head) throws NotCalledException {
		return lock((longest) -> this.table.lockUnclaimed(head, longest));
	}

	private @Nullable LockedEvents lock(Function<Duration, @Nullable LockedRows> statement) throws NotCalledException {
		TransactionScope scope = begin();
		LockedRows lock = null;
		try {
			if (!scope.isNew() || !this.table.isInTransaction()) {
				throw new IllegalTransactionStateException(
						this.manager.getClass().getName() + " has begun no transaction on the outbox's database");
			}
			lock = statement.apply(Duration.ofSeconds(this.definition.getTimeout()));
		}
		catch (Throwable ex) {
			throw notCalled(ex);
		}
		finally {
			if (lock == null) {
				scope.rollback();
			}
		}
		return (lock != null) ? new LockedEvents(scope, lock) : null;
	}

	/**
	 * A handler that commits its transaction itself does that part of its work again.
	 */
	private void warnIfCommitted(Object lock) {
		try {
			if (this.table.isCommitted(lock)) {
				logger.warn(
						"{} has failed after it has committed its transaction, so that work is done again: it "
								+ "called commit() on the connection, or a statement commits implicitly",
						this.definition.getName());
			}
		}
		catch (RuntimeException ex) {
			logger.debug("It is not known whether {} has committed before it failed", this.definition.getName(), ex);
		}
	}

	private TransactionScope begin() throws NotCalledException {
		try {
			return TransactionScope.begin(this.manager, this.definition);
		}
		catch (RuntimeException | Error ex) {
			throw notCalled(ex);
		}
	}

	private static NotCalledException notCalled(Throwable cause) {
		return new NotCalledException("The handler was not called: " + cause.getClass().getName(), cause);
	}

	/**
	 * A transaction that is marked as rollback-only is rolled back without an exception,
	 * and PostgreSQL answers the commit of a failed one with a rollback.
	 */
	private void commit(TransactionScope scope) {
		try {
			scope.commit();
		}
		catch (RuntimeException | Error ex) {
			if (scope.end() != End.COMMITTED) {
				throw ex;
			}
			logger.warn("The transaction of {} is committed, but a callback after it has failed with {}",
					this.definition.getName(), ex.getClass().getName());
			logger.debug("The stack trace of the failure above", ex);
		}
		if (scope.end() != End.COMMITTED) {
			throw new UnexpectedRollbackException("The transaction is not known to have committed");
		}
	}

	/**
	 * A transaction that has locked its events. It is the evidence that their deletion
	 * commits with all work of the transaction.
	 */
	final class LockedEvents implements TransactionParticipant {

		private final TransactionScope scope;

		private final LockedRows lock;

		private boolean deleted;

		private LockedEvents(TransactionScope scope, LockedRows lock) {
			this.scope = scope;
			this.lock = lock;
		}

		/**
		 * The events, with the attempt that begins.
		 */
		List<ClaimedEvent> claims() {
			return this.lock.claims();
		}

		/**
		 * Runs work in the transaction, and returns only if it is known to have committed
		 * with the deletion of the events.
		 * @throws Throwable what the work has thrown, or why it is not known to have
		 * committed
		 */
		void run(Work work) throws Throwable {
			try {
				work.run();
				if (this.scope.isRollbackOnly()) {
					throw new UnexpectedRollbackException("The transaction was marked as rollback-only");
				}
				this.scope.transaction().add(this, HandlerTransactions.this.table.transactionResource());
				this.scope.transaction().lastStatement(this::delete);
			}
			catch (Throwable ex) {
				end();
				warnIfCommitted(this.lock.evidence());
				throw ex;
			}
			try {
				commit(this.scope);
			}
			catch (RuntimeException | Error ex) {
				if (this.scope.end() == End.ROLLED_BACK && !this.deleted) {
					warnIfCommitted(this.lock.evidence());
				}
				throw ex;
			}
		}

		/**
		 * Rolls back, unless the transaction has ended. Never throws.
		 */
		void end() {
			this.scope.rollback();
		}

		private void delete() {
			if (!HandlerTransactions.this.table.deleteInTransaction(this.lock)) {
				throw new OutboxTransactionException(
						"The transaction is no longer the one that has locked the event: the "
								+ "database has rolled it back, usually to break a deadlock whose exception was caught, or the "
								+ "handler has ended it");
			}
			this.deleted = true;
		}

		/**
		 * Others may have used the connection since the check, and Spring hides that
		 * their work has failed.
		 */
		@Override
		public boolean confirm() {
			return HandlerTransactions.this.table.canCommit(this.lock.evidence(),
					!ObservedTransaction.hasCallbacksOfOthers());
		}

	}

	/**
	 * The call of a handler.
	 */
	interface Work {

		void run() throws Throwable;

	}

	/**
	 * Thrown if there was no attempt: the handler was not called.
	 */
	static final class NotCalledException extends Exception {

		NotCalledException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

}
