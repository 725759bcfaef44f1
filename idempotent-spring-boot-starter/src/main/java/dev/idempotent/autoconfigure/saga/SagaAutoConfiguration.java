package dev.idempotent.autoconfigure.saga;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadFactory;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AdvisorBeanPostProcessor;
import dev.idempotent.aop.AdvisorBeanPostProcessor.Placement;
import dev.idempotent.autoconfigure.CanonicalValuesConfiguration;
import dev.idempotent.autoconfigure.EncryptionConfiguration;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.autoconfigure.TransactionConfiguration;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.KeySettings;
import dev.idempotent.autoconfigure.idempotency.IdempotencyProperties;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.client.CallFailure;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.RestClientKeys;
import dev.idempotent.idempotency.web.IdempotencyWebComponents;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.engine.FailureClassifier;
import dev.idempotent.saga.engine.SagaEngine;
import dev.idempotent.saga.engine.SagaTraces;
import dev.idempotent.saga.jdbc.JdbcSagaAdministration;
import dev.idempotent.saga.jdbc.JdbcSagaStore;
import dev.idempotent.saga.method.SagaCalls;
import dev.idempotent.saga.method.SagaMethods;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.concurrent.Workers;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.web.client.RestClientResponseException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import tools.jackson.databind.json.JsonMapper;

/**
 * Auto-configuration for {@code @Saga} methods. The engine is created only if there is
 * such a method, or if one of its beans is injected.
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class,
		afterName = { "dev.idempotent.autoconfigure.idempotency.IdempotencyWebAutoConfiguration",
				"org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration" })
@ConditionalOnBooleanProperty(name = { "idempotent.enabled", "idempotent.saga.enabled" }, matchIfMissing = true)
@ConditionalOnClass({ DataSource.class, ConnectionHolder.class, DataSourcePoolMetadata.class, JsonMapper.class,
		TransactionInterceptor.class })
@ConditionalOnSingleCandidate(DataSource.class)
@EnableConfigurationProperties(SagaProperties.class)
@Import({ EncryptionConfiguration.class, TransactionConfiguration.class, CanonicalValuesConfiguration.class })
final class SagaAutoConfiguration {

	/**
	 * Inside all other advice. A saga that is taken over does not pass that advice again.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor sagaMethodAdvisor(ObjectProvider<SagaMethods> methods,
			ObjectProvider<SagaCalls> calls) {
		return new AdvisorBeanPostProcessor(SagaCalls.advisor(methods::getObject, calls::getObject),
				Placement.INNERMOST);
	}

	@Bean
	SagaMethods sagaMethods(ConfigurableListableBeanFactory beanFactory, KeySettings keys,
			ObjectProvider<JsonMapper> mappers, CanonicalValues values,
			ObjectProvider<TransactionAttributeSource> attributes) {
		return new SagaMethods(beanFactory, keys.namespace(), mappers.getIfUnique(JsonMapper::shared), values,
				attributes.getIfUnique(() -> new AnnotationTransactionAttributeSource(false)));
	}

	@Bean
	@Lazy
	TableScript sagaSchema(DataSource dataSource, SagaProperties properties) {
		return new TableScript(dataSource, properties.initializeSchema(), "saga",
				(script) -> TableScript.rename(script, SagaProperties.DEFAULT_TABLE_PREFIX, "instance|step|signal",
						properties.tablePrefix()),
				(product) -> new IdempotentConfigurationException("Sagas are not supported on " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or omit idempotent.saga.initialize-schema."));
	}

	@Bean
	@Lazy
	@DependsOn("sagaSchema")
	JdbcSagaStore sagaStore(OwnTransactions transactions, SagaProperties properties, IdempotencyProperties.Jdbc jdbc,
			KeySettings keys) {
		return new JdbcSagaStore(transactions, properties.tablePrefix(), jdbc.lockTimeout(), keys.maxRun());
	}

	@Bean(destroyMethod = "close")
	@Lazy
	SagaEngine sagaEngine(BeanFactory beanFactory, JdbcSagaStore store, SagaProperties properties, KeySettings keys,
			IdempotencyProperties.Jdbc jdbc, ObjectProvider<FailureClassifier> failures, PayloadEncryption encryption,
			ObjectProvider<SagaObserver> observers, ObjectProvider<SagaTraces> traces, Environment environment) {
		return new SagaEngine(store, SagaStartupCheck.transactionManager(beanFactory, jdbc.transactionManager()),
				properties.settings(UUID.randomUUID().toString(), keys.maxRun()),
				failures.getIfAvailable(() -> new FailureClassifier(packages(beanFactory))), encryption,
				observers.orderedStream().toList(), traces.getIfAvailable(() -> SagaTraces.NONE), threads(environment));
	}

	/**
	 * Virtual threads where spring.threads.virtual.enabled and the version of Java permit
	 * them: a call that waits for a service keeps no thread of the platform.
	 */
	private static ThreadFactory threads(Environment environment) {
		return Threading.VIRTUAL.isActive(environment)
				? new VirtualThreadTaskExecutor(SagaEngine.THREADS).getVirtualThreadFactory()
				: Workers.daemons(SagaEngine.THREADS);
	}

	/**
	 * The packages of the application.
	 */
	private static List<String> packages(BeanFactory beanFactory) {
		return AutoConfigurationPackages.has(beanFactory) ? AutoConfigurationPackages.get(beanFactory) : List.of();
	}

	/**
	 * The bean has the name of the field in the documentation.
	 */
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	SagaSteps saga(SagaEngine engine) {
		return engine.steps();
	}

	@Bean
	@Lazy
	SagaCalls sagas(SagaEngine engine, SagaMethods methods) {
		return new SagaCalls(engine, methods);
	}

	@Bean
	@Lazy(false)
	SmartInitializingSingleton sagaMethodsCheck(ConfigurableListableBeanFactory beanFactory, SagaMethods methods,
			ObjectProvider<JdbcSagaStore> store, IdempotencyProperties.Jdbc jdbc, Environment environment) {
		return () -> SagaStartupCheck.run(beanFactory, methods, store, jdbc.transactionManager(), environment);
	}

	@Bean
	@Lazy
	@DependsOn("sagaSchema")
	JdbcSagaAdministration sagaAdministration(OwnTransactions transactions, SagaProperties properties) {
		return new JdbcSagaAdministration(transactions, properties.tablePrefix(), properties.retention());
	}

	@Bean
	@Lazy
	TableSweeper sagaSweeper(JdbcSagaAdministration administration, SagaProperties properties) {
		return administration.sweeper(properties.sweepInterval());
	}

	/**
	 * Not lazy, because no other bean depends on it.
	 */
	@Bean
	@Lazy(false)
	SagaLifecycle sagaLifecycle(SagaMethods methods, ObjectProvider<SagaEngine> engine,
			@Qualifier("sagaSweeper") ObjectProvider<TableSweeper> sweeper) {
		return new SagaLifecycle(methods, engine, sweeper);
	}

	/**
	 * Actions of steps may use Spring's HTTP clients, whose exceptions have responses.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RestClientResponseException.class)
	static class HttpClientConfiguration {

		@Bean
		@Lazy
		@ConditionalOnMissingBean
		FailureClassifier sagaFailureClassifier(ObjectProvider<IdempotencyKeyInterceptor> interceptors,
				ObjectProvider<RestClientKeys> keys, BeanFactory beanFactory) {
			boolean observed = interceptors.orderedStream().anyMatch(IdempotencyKeyInterceptor::hasTargets);
			return new FailureClassifier(packages(beanFactory)) {

				@Override
				public @Nullable Integer statusOf(Throwable failure) {
					return CallFailure.statusOf(failure);
				}

				@Override
				public boolean isOfCall(Throwable failure) {
					return CallFailure.isOfClient(failure);
				}

				@Override
				public boolean requiresObservedCalls() {
					return observed || keys.stream().anyMatch(RestClientKeys::isUsed);
				}

				@Override
				public String describe(Throwable failure) {
					String response = CallFailure.describe(failure);
					String words = CallFailure.wordsOf(failure);
					return super.describe(failure) + ((response != null) ? " (" + response + ")" : "")
							+ ((words != null) ? ": " + masked(words) : "");
				}

			};
		}

	}

	/**
	 * In a servlet application, web handlers may call sagas.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(HandlerExceptionResolver.class)
	@ConditionalOnBean(IdempotencyWebSettings.class)
	static class WebConfiguration {

		@Bean
		HandlerExceptionResolver sagaFailureResolver(IdempotencyWebSettings settings) {
			return IdempotencyWebComponents.sagaFailureResolver(SagaCompensatedException.class,
					SagaHaltedException.class, settings);
		}

	}

}
