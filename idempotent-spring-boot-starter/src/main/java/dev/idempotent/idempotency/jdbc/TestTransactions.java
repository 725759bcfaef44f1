package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Method;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The transactions that Spring's test framework begins around a {@code @Transactional}
 * test and rolls back. Handlers join them, so that the rollback includes their work.
 */
final class TestTransactions {

	private static final @Nullable Method IS_ACTIVE = find();

	private TestTransactions() {
	}

	/**
	 * Returns whether this thread is in the transaction of a test.
	 */
	static boolean isOpenOn(DataSource dataSource) {
		return IS_ACTIVE != null && TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.hasResource(dataSource)
				&& Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IS_ACTIVE, null));
	}

	/**
	 * Joins it, with a savepoint if the manager supports them, so that the work of a
	 * failed handler is rolled back immediately.
	 */
	static TransactionDefinition joining(PlatformTransactionManager manager) {
		boolean nests = manager instanceof AbstractPlatformTransactionManager some && some.isNestedTransactionAllowed();
		return new DefaultTransactionDefinition(
				nests ? TransactionDefinition.PROPAGATION_NESTED : TransactionDefinition.PROPAGATION_REQUIRED);
	}

	private static @Nullable Method find() {
		try {
			return ClassUtils
				.forName("org.springframework.test.context.transaction.TestTransaction",
						TestTransactions.class.getClassLoader())
				.getMethod("isActive");
		}
		catch (ReflectiveOperationException | LinkageError ex) {
			return null;
		}
	}

}
