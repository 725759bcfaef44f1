package dev.idempotent.autoconfigure.saga;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.advice.AnnotatedMethodsCheck;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.work.RootCause;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.jdbc.JdbcSagaStore;
import dev.idempotent.saga.method.SagaMethods;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Checks an application that has sagas at startup: their methods, the tables, the
 * transaction manager and the HTTP clients. A database that does not answer is not
 * checked.
 */
final class SagaStartupCheck {

	private static final Logger logger = LoggerFactory.getLogger(SagaStartupCheck.class);

	private static final String NAME_ONE = "Add spring-boot-starter-jdbc or -data-jpa, or name a manager in "
			+ "idempotent.jdbc.transaction-manager.";

	private static final String CLIENT = "org.springframework.http.client.ClientHttpRequestInterceptor";

	private static final String BOOT_CLIENT = "org.springframework.boot.http.client.HttpClientSettings";

	private static final String TARGETS = "idempotent.client.targets";

	private static final String REDIRECTS = "spring.http.clients.redirects";

	private SagaStartupCheck() {
	}

	static void run(ConfigurableListableBeanFactory beans, SagaMethods methods, ObjectProvider<JdbcSagaStore> store,
			@Nullable String transactionManager, Environment environment) {
		new AnnotatedMethodsCheck(beans, Saga.class).check(methods::add);
		if (!methods.definitions().isEmpty()) {
			requireTables(store.getObject());
			requireTransactionsOf(transactionManager(beans, transactionManager),
					store.getObject().transactionResource());
			warnOfUnobservedCalls(beans, environment);
		}
	}

	/**
	 * Finds the transaction manager of all sagas.
	 * @param name its bean name, or {@code null} for the only or primary one
	 * @throws IdempotentConfigurationException if there is none, or several of which none
	 * is primary
	 */
	static PlatformTransactionManager transactionManager(BeanFactory beans, @Nullable String name) {
		TransactionManager manager = (name != null) ? named(beans, name)
				: beans.getBeanProvider(TransactionManager.class).getIfUnique();
		if (manager instanceof PlatformTransactionManager found) {
			return found;
		}
		throw new IdempotentConfigurationException((manager == null)
				? "Sagas need a transaction manager, and there is none, or several without a primary one."
				: "Sagas need a transaction manager, and that of the application is reactive.", NAME_ONE, null);
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

	private static void requireTables(JdbcSagaStore store) {
		try {
			store.verify();
		}
		catch (DataAccessException ex) {
			logger.warn("The database does not answer, so the tables of sagas could not be checked: {}",
					RootCause.of(ex));
			logger.debug("The stack trace of the failure above", ex);
		}
	}

	/**
	 * Requires that the transactions of the manager are those of the database with the
	 * tables.
	 * @param dataSource the resource to which they must be bound
	 */
	private static void requireTransactionsOf(PlatformTransactionManager manager, Object dataSource) {
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

	/**
	 * Warns if the calls of steps would neither carry keys nor be observed, or if the
	 * clients of Spring Boot follow redirects, which the interceptor cannot see. The
	 * steps are unknown until they run, so the application states by either property that
	 * it has decided.
	 */
	private static void warnOfUnobservedCalls(ListableBeanFactory beans, Environment environment) {
		ClassLoader loader = SagaStartupCheck.class.getClassLoader();
		if (!ClassUtils.isPresent(CLIENT, loader) || "".equals(environment.getProperty(TARGETS))) {
			return;
		}
		if (beans.getBeanNamesForType(IdempotencyKeyInterceptor.class, true, false).length == 0) {
			logger.warn("{} is not set, so the calls that steps of sagas make with RestClient, RestTemplate and HTTP "
					+ "interfaces carry no key, and their responses prove nothing: a redirect or an ignored error "
					+ "counts as done. Set it to the hosts of these services, or to an empty value if no step makes "
					+ "such a call", TARGETS);
		}
		else if (ClassUtils.isPresent(BOOT_CLIENT, loader) && !environment.containsProperty(REDIRECTS)) {
			logger.warn("{} is not set, so the HTTP clients follow redirects, and the response to the last request "
					+ "counts for the step of a saga: a login page counts as done. Set it to dont-follow, or to follow "
					+ "if no service of a step redirects", REDIRECTS);
		}
	}

}
