package dev.idempotent.outbox.handler;

import java.time.Duration;
import java.util.Set;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.EventTable.Claim;
import dev.idempotent.transaction.End;
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
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER);

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
	 * Runs work in a transaction, and returns only if it is known to have committed with
	 * the deletion of the event.
	 * @throws NotCalledException if the work was not called
	 * @throws Throwable what the work has thrown, or why it is not known to have
	 * committed
	 */
	void run(Claim claim, Work work) throws Throwable {
		TransactionScope scope = begin();
		Evidence evidence;
		Object lock = null;
		try {
			if (!scope.isNew() || !this.table.isInTransaction()) {
				throw new IllegalTransactionStateException(
						this.manager.getClass().getName() + " has begun no transaction on the outbox's database");
			}
			lock = this.table.lockInTransaction(claim, Duration.ofSeconds(this.definition.getTimeout()));
			if (lock == null) {
				throw new NotCalledException("Another instance has claimed the event", null);
			}
			work.run();
			if (scope.isRollbackOnly()) {
				throw new UnexpectedRollbackException("The transaction was marked as rollback-only");
			}
			evidence = new Evidence(claim, lock);
			scope.transaction().add(evidence, this.table.transactionResource());
			scope.transaction().lastStatement(evidence::delete);
		}
		catch (Throwable ex) {
			scope.rollback();
			if (lock == null) {
				throw (ex instanceof NotCalledException) ? ex : notCalled(ex);
			}
			warnIfCommitted(lock);
			throw ex;
		}
		try {
			commit(scope);
		}
		catch (RuntimeException | Error ex) {
			if (scope.end() == End.ROLLED_BACK && !evidence.deleted) {
				warnIfCommitted(evidence.lock);
			}
			throw ex;
		}
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
	 * The evidence that the deletion of an event commits with all work of its
	 * transaction.
	 */
	private final class Evidence implements TransactionParticipant {

		private final Claim claim;

		private final Object lock;

		private boolean deleted;

		private Evidence(Claim claim, Object lock) {
			this.claim = claim;
			this.lock = lock;
		}

		private void delete() {
			if (!HandlerTransactions.this.table.deleteInTransaction(this.claim, this.lock)) {
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
			return HandlerTransactions.this.table.canCommit(this.lock);
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
