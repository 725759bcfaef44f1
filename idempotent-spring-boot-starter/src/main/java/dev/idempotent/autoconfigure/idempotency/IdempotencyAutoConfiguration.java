package dev.idempotent.autoconfigure.idempotency;

import java.lang.reflect.Method;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.EncryptionConfiguration;
import dev.idempotent.autoconfigure.TransactionConfiguration;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.caffeine.CachingIdempotencyStore;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyEngine.CurrentTrace;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.engine.KeyAdministration;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import dev.idempotent.saga.method.SagaMethods;
import dev.idempotent.token.OneTimeTokens;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration for the store of idempotency keys, and for everything that web
 * handlers, methods and the template share.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
		"org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@EnableConfigurationProperties({ IdempotencyProperties.class, IdempotencyProperties.ReplayCache.class,
		IdempotencyProperties.Token.class })
@Import({ EncryptionConfiguration.class, TransactionConfiguration.class, RedisStoreConfiguration.class,
		JdbcStoreConfiguration.class, EntityResponseConfiguration.class })
public final class IdempotencyAutoConfiguration {

	@Bean
	OperationSettings idempotencyDefaults(IdempotencyProperties properties) {
		return OperationSettings.defaults(properties.defaultGuarantee(), properties.lease(), properties.retention());
	}

	@Bean
	KeySettings idempotencyKeySettings(ListableBeanFactory beans, IdempotencyProperties properties,
			IdempotencyProperties.ReplayCache cache, @Value("${spring.application.name:}") String applicationName) {
		String namespace = IdempotencyProperties.requireNamespace(properties.namespace(), applicationName);
		requireStore(beans, properties, cache);
		return new KeySettings(namespace, properties.maxRun(), properties.onStoreFailure() == OnStoreFailure.PROCEED,
				cache.isOn() ? cache.ttl() : null);
	}

	@Bean
	StartupReport idempotencyStartupReport(ApplicationContext context, IdempotencyEngine engine,
			IdempotencyProperties properties) {
		return new StartupReport(context, engine, properties.guarantee() == null);
	}

	@Bean
	LastStartReport idempotencyLastStartReport(ApplicationContext context, StartupReport report, KeySettings keys,
			ObjectProvider<SagaMethods> sagas, ObjectProvider<IdempotencyStore> stores,
			ObjectProvider<DeploymentFacts> facts, @Value("${spring.application.name:}") String applicationName) {
		return new LastStartReport(context, report, sagas, keys.namespace(), applicationName, stores, facts);
	}

	@Bean
	EffectiveStore idempotencyEffectiveStore(ObjectProvider<IdempotencyStore> stores, IdempotencyProperties properties,
			IdempotencyProperties.ReplayCache cache) {
		IdempotencyStore store = stores.getIfAvailable();
		if (store == null) {
			throw missing(properties.store());
		}
		return new EffectiveStore(cache.isOn() ? cached(store, cache) : store);
	}

	@Bean
	IdempotencyEngine idempotencyEngine(EffectiveStore store, IdempotencyProperties properties,
			PayloadEncryption encryption, ObjectProvider<IdempotencyObserver> observers,
			ObjectProvider<CurrentTrace> trace) {
		return new IdempotencyEngine(store.store(), properties.onStoreFailure(), properties.maxRun(), encryption,
				observers.orderedStream().toList(), trace.getIfAvailable(() -> () -> null));
	}

	/**
	 * For applications with an actuator.
	 */
	@Bean
	@Lazy
	KeyAdministration idempotencyKeyAdministration(EffectiveStore store, PayloadEncryption encryption,
			ObjectProvider<IdempotencyTransactionSource> transactionSource) {
		return new KeyAdministration(store.store(), () -> {
			IdempotencyTransactionSource source = transactionSource.getIfAvailable();
			return (source != null) ? source.records() : List.of();
		}, encryption);
	}

	/**
	 * Checks that there is a store, and Caffeine if the cache needs it, without creating
	 * beans of the application: a store or a data source may depend on the web server.
	 */
	private static void requireStore(ListableBeanFactory beans, IdempotencyProperties properties,
			IdempotencyProperties.ReplayCache cache) {
		if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, IdempotencyStore.class, true,
				false).length == 0) {
			throw missing(properties.store());
		}
		if (cache.isOn() && !ClassUtils.isPresent("com.github.benmanes.caffeine.cache.Cache", null)) {
			throw new IdempotentConfigurationException(
					"idempotent.replay-cache.max-size is set, but Caffeine is not on the class path.",
					"Add com.github.ben-manes.caffeine:caffeine to the application, or omit the property.");
		}
	}

	/**
	 * Creates the exception for an application without a store.
	 * @param configured the configured store, or {@code null}
	 */
	private static IdempotentConfigurationException missing(IdempotencyProperties.@Nullable Store configured) {
		String missing = (configured == null) ? "There is no store for idempotency keys." : "idempotent.store is "
				+ configured.name().toLowerCase(Locale.ROOT) + ", which this application does not have.";
		if (configured == IdempotencyProperties.Store.JDBC) {
			return new IdempotentConfigurationException(missing,
					"Add spring-boot-starter-jdbc and set spring.datasource.*, or set idempotent.store=redis; "
							+ "mark one of several DataSource beans as @Primary.");
		}
		return new IdempotentConfigurationException(missing,
				"Add spring-boot-starter-data-redis to the application and point spring.data.redis.* at a server, "
						+ "or add spring-boot-starter-jdbc and point spring.datasource.* at a database; "
						+ "mark one of several RedisConnectionFactory or DataSource beans as @Primary; "
						+ "declare a bean of type IdempotencyStore; or set idempotent.enabled=false.");
	}

	private static IdempotencyStore cached(IdempotencyStore store, IdempotencyProperties.ReplayCache cache) {
		return new CachingIdempotencyStore(store, cache.maxSize().toBytes(), cache.ttl());
	}

	/**
	 * For applications with a secret.
	 */
	@Bean
	@ConditionalOnMissingBean
	@Conditional(OnSecrets.class)
	OneTimeTokens oneTimeTokens(KeySettings keys, IdempotencyProperties.Token properties) {
		return new OneTimeTokens(keys.namespace(), properties.decoded(), properties.validity(),
				IdempotencyAutoConfiguration::identify);
	}

	private static @Nullable String identify(Principal principal) {
		return AuthenticatedPrincipals.isAnonymous(principal) ? null
				: PrincipalScopeResolver.scopeOf(AuthenticatedPrincipals.issuerOf(principal), principal.getName());
	}

	/**
	 * The store that the guard calls.
	 *
	 * @param store the store of the application, behind a replay cache if that is on
	 */
	public record EffectiveStore(IdempotencyStore store) {
	}

	/**
	 * An empty list, such as from a variable that is not set, is none.
	 */
	static final class OnSecrets implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return IdempotencyProperties.Token.hasSecrets(context.getEnvironment());
		}

	}

	/**
	 * The configuration of keys that operators need to know.
	 *
	 * @param namespace separates the keys of this application from the keys of others
	 * @param maxRun how long a lease is renewed at most
	 * @param proceedsWithoutStore whether requests run unprotected while the store is
	 * unreachable
	 * @param replayCacheTtl how long an instance may replay a key that the store no
	 * longer has; {@code null} without a replay cache
	 */
	public record KeySettings(String namespace, Duration maxRun, boolean proceedsWithoutStore,
			@Nullable Duration replayCacheTtl) {
	}

	/**
	 * Identifies annotated methods that the servlet filter handles.
	 */
	@FunctionalInterface
	interface WebHandlers {

		boolean include(Class<?> type, Method method);

	}

}
