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
 * The transactions of one handler, each of which also deletes the event. The deletion is
 * the first statement: from then on, the lock of the row keeps other instances away,
 * however long the handler takes. The last statements prove that the deletion and all
 * work after it are still part of the transaction.
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
		Object deletion = null;
		try {
			if (!scope.isNew() || !this.table.isInTransaction()) {
				throw new IllegalTransactionStateException(
						this.manager.getClass().getName() + " has begun no transaction on the outbox's database");
			}
			deletion = this.table.deleteInTransaction(claim, Duration.ofSeconds(this.definition.getTimeout()));
			if (deletion == null) {
				throw new NotCalledException("Another instance has claimed the event", null);
			}
			work.run();
			if (scope.isRollbackOnly()) {
				throw new UnexpectedRollbackException("The transaction was marked as rollback-only");
			}
			evidence = new Evidence(deletion);
			scope.transaction().add(evidence, this.table.transactionResource());
			scope.transaction().lastStatement(evidence::check);
		}
		catch (Throwable ex) {
			scope.rollback();
			if (deletion == null) {
				throw (ex instanceof NotCalledException) ? ex : notCalled(ex);
			}
			restore(claim, deletion);
			throw ex;
		}
		try {
			commit(scope);
		}
		catch (RuntimeException | Error ex) {
			if (scope.end() == End.ROLLED_BACK && !evidence.checked) {
				restore(claim, evidence.deletion);
			}
			throw ex;
		}
	}

	/**
	 * A handler that commits its transaction itself removes its event before its work is
	 * done.
	 */
	private void restore(Claim claim, Object deletion) {
		try {
			if (this.table.restore(deletion, claim)) {
				logger.warn(
						"{} has failed after it has committed its transaction, so that work is done again: it "
								+ "called commit() on the connection, or a statement commits implicitly",
						this.definition.getName());
			}
		}
		catch (RuntimeException ex) {
			logger.warn(
					"The database does not answer, so it is not known whether {} has committed before it failed: {}",
					this.definition.getName(), ex.getClass().getName());
			logger.debug("The stack trace of the failure above", ex);
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

		private final Object deletion;

		private boolean checked;

		private Evidence(Object deletion) {
			this.deletion = deletion;
		}

		private void check() {
			if (!HandlerTransactions.this.table.isDeleted(this.deletion)) {
				throw new OutboxTransactionException("The database has rolled back the beginning of the transaction, "
						+ "usually to break a deadlock whose exception was caught");
			}
			this.checked = true;
		}

		/**
		 * Others may have used the connection since the check, and Spring hides that
		 * their work has failed.
		 */
		@Override
		public boolean confirm() {
			return HandlerTransactions.this.table.canCommit(this.deletion);
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
