package dev.idempotent.saga.engine;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.TransactionTimedOutException;

/**
 * Failures of a transaction or a body that another attempt may mend.
 */
final class TransientFailures {

	/**
	 * Classes of SQL states: connection, rollback (deadlock, serialization), resources
	 * and intervention of an operator.
	 */
	private static final Set<String> STATES = Set.of("08", "40", "53", "57");

	/**
	 * A lock is not available, the database has become a read-only replica, or the
	 * statement that PostgreSQL has prepared no longer fits a migrated table, or is gone.
	 */
	private static final Set<String> OTHER_STATES = Set.of("55P03", "25006", "0A000", "26000");

	/**
	 * The same on MySQL and H2.
	 */
	private static final Set<Integer> CODES = Set.of(1205, 1290, 90097);

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
		return each instanceof TransientDataAccessException || each instanceof RecoverableDataAccessException
				|| each instanceof DataAccessResourceFailureException
				|| each instanceof CannotCreateTransactionException || each instanceof TransactionSystemException
				|| each instanceof TransactionTimedOutException || each instanceof IdempotencyPendingException
				|| each instanceof IdempotencyStoreUnavailableException || each instanceof InterruptedException
				|| each instanceof VirtualMachineError || (each instanceof SQLException ex && isTransient(ex))
				|| UNTRANSLATED.contains(each.getClass().getName());
	}

	private static boolean isTransient(SQLException ex) {
		String state = (ex.getSQLState() != null) ? ex.getSQLState() : "";
		return ex instanceof SQLTransientException || ex instanceof SQLRecoverableException
				|| ex instanceof SQLNonTransientConnectionException || CODES.contains(ex.getErrorCode())
				|| OTHER_STATES.contains(state) || (state.length() == 5 && STATES.contains(state.substring(0, 2)));
	}

}
