package dev.idempotent.saga.engine;

import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.jdbc.Statements;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.TransactionTimedOutException;

/**
 * Failures of a transaction or a body that another attempt may mend.
 */
final class TransientFailures {

	/**
	 * Exceptions of JPA, Hibernate and jOOQ that were not translated.
	 */
	private static final Set<String> UNTRANSLATED = Set.of("jakarta.persistence.OptimisticLockException",
			"jakarta.persistence.PessimisticLockException", "jakarta.persistence.LockTimeoutException",
			"jakarta.persistence.QueryTimeoutException", "org.hibernate.StaleStateException",
			"org.hibernate.StaleObjectStateException", "org.jooq.exception.DataChangedException");

	private static final int DEEPEST = 20;

	private TransientFailures() {
	}

	/**
	 * Returns whether an exception or one of its causes is transient.
	 */
	static boolean include(Throwable failure) {
		return anyCause(failure, TransientFailures::isTransient);
	}

	/**
	 * Returns whether an exception or one of its causes is a transient one of a driver.
	 */
	static boolean comeFromDriver(Throwable failure) {
		return anyCause(failure, (each) -> each instanceof SQLException ex && isTransient(ex));
	}

	private static boolean anyCause(Throwable failure, Predicate<Throwable> condition) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(DEEPEST).anyMatch(condition);
	}

	private static boolean isTransient(Throwable each) {
		return (each instanceof DataAccessException translated && Statements.isTransient(translated))
				|| each instanceof CannotCreateTransactionException || each instanceof TransactionSystemException
				|| each instanceof TransactionTimedOutException || each instanceof IdempotencyPendingException
				|| each instanceof IdempotencyStoreUnavailableException || each instanceof InterruptedException
				|| each instanceof VirtualMachineError || (each instanceof SQLException ex && isTransient(ex))
				|| UNTRANSLATED.contains(each.getClass().getName());
	}

	private static boolean isTransient(SQLException ex) {
		return ex instanceof SQLTransientException || Statements.isTransient(Statements.translate("", ex));
	}

}
