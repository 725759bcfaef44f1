package dev.idempotent.autoconfigure.saga;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.work.RootCause;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds and checks the transaction manager of all sagas: the configured one, or the only
 * or primary one.
 */
final class SagaTransactions {

	private static final Logger logger = LoggerFactory.getLogger(SagaTransactions.class);

	private static final String NAME_ONE = "Add spring-boot-starter-jdbc or -data-jpa, or name a manager in "
			+ "idempotent.jdbc.transaction-manager.";

	private SagaTransactions() {
	}

	/**
	 * Finds the manager.
	 * @param name its bean name, or {@code null} for the only or primary one
	 * @throws IdempotentConfigurationException if there is none, or several of which none
	 * is primary
	 */
	static PlatformTransactionManager find(BeanFactory beans, @Nullable String name) {
		TransactionManager manager = (name != null) ? named(beans, name)
				: beans.getBeanProvider(TransactionManager.class).getIfUnique();
		if (manager instanceof PlatformTransactionManager found) {
			return found;
		}
		throw new IdempotentConfigurationException((manager == null)
				? "Sagas need a transaction manager, and there is none, or several without a primary one."
				: "Sagas need a transaction manager, and that of the application is reactive.", NAME_ONE, null);
	}

	/**
	 * Checks that the transactions of a manager are those of the database with the
	 * tables. A database that does not answer is not checked.
	 * @param dataSource the resource to which they must be bound
	 * @throws IdempotentConfigurationException if they are not
	 */
	static void verify(PlatformTransactionManager manager, Object dataSource) {
		try {
			TransactionStatus status = manager
				.getTransaction(new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
			try {
				requireBound(manager, dataSource);
			}
			finally {
				manager.rollback(status);
			}
		}
		catch (TransactionException ex) {
			logger.warn("The database does not answer, so the transactions of sagas could not be checked: {}",
					RootCause.of(ex));
			logger.debug("The stack trace of the failure above", ex);
		}
	}

	private static void requireBound(PlatformTransactionManager manager, Object dataSource) {
		if (!TransactionSynchronizationManager.hasResource(dataSource)) {
			throw new IdempotentConfigurationException(
					"There is a @Saga method, and its transaction manager (" + manager.getClass().getName()
							+ ") does not work on the application's DataSource.",
					"Name the manager of that DataSource in idempotent.jdbc.transaction-manager, or mark the "
							+ "DataSource of the manager as @Primary.",
					null);
		}
	}

	private static TransactionManager named(BeanFactory beans, String name) {
		try {
			return BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, name);
		}
		catch (BeansException ex) {
			throw new IdempotentConfigurationException(
					"Sagas need a transaction manager, and there is not exactly one '" + name + "'.",
					"Name one in idempotent.jdbc.transaction-manager.", ex);
		}
	}

}
