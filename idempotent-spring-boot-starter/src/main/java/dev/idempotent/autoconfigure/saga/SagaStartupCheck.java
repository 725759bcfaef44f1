package dev.idempotent.autoconfigure.saga;

import dev.idempotent.aop.AnnotatedMethodsCheck;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.RestClientKeys;
import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.jdbc.JdbcSagaStore;
import dev.idempotent.saga.method.SagaMethods;
import dev.idempotent.transaction.TransactionRequirements;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Checks an application that has sagas at startup: their methods, the tables, the
 * transaction manager and the HTTP clients. A database that does not answer is not
 * checked.
 */
final class SagaStartupCheck {

	private static final Logger logger = LoggerFactory.getLogger(SagaStartupCheck.class);

	private static final String REASON = "A @Saga method needs transactions";

	private static final String PLACE = "idempotent.jdbc.transaction-manager";

	private static final String CLIENT = "org.springframework.http.client.ClientHttpRequestInterceptor";

	private static final String BOOT_CLIENT = "org.springframework.boot.http.client.HttpClientSettings";

	private static final String TARGETS = "idempotent.client.targets";

	private static final String REDIRECTS = "spring.http.clients.redirects";

	private static final String READ_TIMEOUT = "spring.http.clients.read-timeout";

	private SagaStartupCheck() {
	}

	static void run(ConfigurableListableBeanFactory beans, SagaMethods methods, ObjectProvider<JdbcSagaStore> store,
			@Nullable String transactionManager, Environment environment) {
		new AnnotatedMethodsCheck(beans, Saga.class).check(methods::add);
		if (!methods.definitions().isEmpty()) {
			requireTables(store.getObject());
			TransactionRequirements.requireTransactions(transactionManager(beans, transactionManager),
					store.getObject().transactionResource(), REASON, PLACE);
			warnOfUnobservedCalls(beans, environment);
		}
	}

	/**
	 * Finds the transaction manager of all sagas.
	 * @param name its bean name, or {@code null} for the only or primary one
	 * @throws dev.idempotent.IdempotentConfigurationException if there is none, or
	 * several of which none is primary
	 */
	static PlatformTransactionManager transactionManager(BeanFactory beans, @Nullable String name) {
		return TransactionRequirements.requireManager(beans, name, REASON, PLACE);
	}

	private static void requireTables(JdbcSagaStore store) {
		try {
			store.verify();
		}
		catch (DataAccessException ex) {
			DatabaseRequirements.warnOfSilence("the tables of sagas", ex);
		}
	}

	/**
	 * Warns if the calls of steps would neither carry keys nor be observed, or if the
	 * clients of Spring Boot follow redirects, which the interceptor cannot see, or wait
	 * for a response without limit. The steps are unknown until they run, so the
	 * application states by either property that it has decided.
	 */
	private static void warnOfUnobservedCalls(ListableBeanFactory beans, Environment environment) {
		ClassLoader loader = SagaStartupCheck.class.getClassLoader();
		if (!ClassUtils.isPresent(CLIENT, loader) || "".equals(environment.getProperty(TARGETS))) {
			return;
		}
		if (beans.getBeanNamesForType(IdempotencyKeyInterceptor.class, true, false).length == 0
				&& beans.getBeanProvider(RestClientKeys.class, false).stream().noneMatch(RestClientKeys::isUsed)) {
			logger.warn("{} is not set, so the calls that steps of sagas make with RestClient, RestTemplate and HTTP "
					+ "interfaces carry no key, and their responses prove nothing: a redirect or an ignored error "
					+ "counts as done. Name these services there, with all their locations, apply RestClientKeys to "
					+ "their clients, or set it to an empty value if no step makes such a call", TARGETS);
			return;
		}
		if (!ClassUtils.isPresent(BOOT_CLIENT, loader)) {
			return;
		}
		if (!environment.containsProperty(READ_TIMEOUT)) {
			logger
				.warn("{} is not set, so the HTTP clients wait for a response without limit. A step that waits longer "
						+ "than idempotent.saga.step-timeout is interrupted and repeated; a client that cannot be "
						+ "interrupted keeps its thread. Set it to a shorter time", READ_TIMEOUT);
		}
		if (!environment.containsProperty(REDIRECTS)) {
			logger.warn("{} is not set, so the HTTP clients follow redirects, and the response to the last request "
					+ "counts for the step of a saga: a login page counts as done. Set it to dont-follow, or to follow "
					+ "if no service of a step redirects", REDIRECTS);
		}
	}

}
