package dev.idempotent.autoconfigure.idempotency;

import java.util.List;
import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.EncryptionConfiguration;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.caffeine.CachingIdempotencyStore;
import dev.idempotent.idempotency.engine.CurrentTrace;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactionSource;
import dev.idempotent.idempotency.engine.KeyAdministration;
import dev.idempotent.idempotency.operation.OperationSettings;
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
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Auto-configuration for the store of idempotency keys, and for everything that web
 * handlers, methods and the template share.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
		"org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@EnableConfigurationProperties({ IdempotencyProperties.class, ReplayCacheProperties.class })
@Import({ EncryptionConfiguration.class, RedisStoreConfiguration.class, JdbcStoreConfiguration.class,
		TokenConfiguration.class })
public final class IdempotencyAutoConfiguration {

	@Bean
	OperationSettings idempotencyDefaults(IdempotencyProperties properties) {
		return OperationSettings.defaults(properties.defaultGuarantee(), properties.lease(), properties.retention());
	}

	@Bean
	KeySettings idempotencyKeySettings(IdempotencyProperties properties, ReplayCacheProperties cache,
			@Value("${spring.application.name:}") String applicationName) {
		String namespace = StringUtils.hasText(properties.namespace()) ? properties.namespace() : applicationName;
		if (!StringUtils.hasText(namespace)) {
			throw new IdempotentConfigurationException(
					"Neither idempotent.namespace nor spring.application.name is set, so the keys of this application "
							+ "could not be distinguished from those of others in the same store.",
					"Set spring.application.name, or idempotent.namespace if the name may change.", null);
		}
		return new KeySettings(namespace, properties.maxRun(), properties.onStoreFailure() == OnStoreFailure.PROCEED,
				cache.isOn() ? cache.ttl() : null);
	}

	@Bean
	StartupReport idempotencyStartupReport(ApplicationContext context, IdempotencyEngine engine,
			IdempotencyProperties properties) {
		return new StartupReport(context, engine, properties.guarantee() == null);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotencyEngine.class)
	static class OwnGuard {

		@Bean
		EffectiveStore idempotencyEffectiveStore(ObjectProvider<IdempotencyStore> stores,
				IdempotencyProperties properties, ReplayCacheProperties cache) {
			IdempotencyStore store = stores.getIfAvailable();
			if (store == null) {
				throw RequiredStore.missing(properties.store());
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

		@Bean
		@ConditionalOnMissingBean
		KeyAdministration idempotencyKeyAdministration(EffectiveStore store, PayloadEncryption encryption,
				ObjectProvider<IdempotencyTransactionSource> transactionSource) {
			return new KeyAdministration(store.store(), () -> {
				IdempotencyTransactionSource source = transactionSource.getIfAvailable();
				return (source != null) ? source.records() : List.of();
			}, encryption);
		}

		@Bean
		RequiredStore idempotencyRequiredStore(ListableBeanFactory beans, IdempotencyProperties properties,
				ReplayCacheProperties cache) {
			return new RequiredStore(beans, properties, cache);
		}

		private static IdempotencyStore cached(IdempotencyStore store, ReplayCacheProperties cache) {
			return new CachingIdempotencyStore(store, cache.maxSize().toBytes(), cache.ttl());
		}

	}

	/**
	 * Checks that there is a store, and Caffeine if the cache needs it, without creating
	 * beans of the application: a store or a data source may depend on the web server.
	 */
	static final class RequiredStore {

		RequiredStore(ListableBeanFactory beans, IdempotencyProperties properties, ReplayCacheProperties cache) {
			if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, IdempotencyStore.class, true,
					false).length == 0) {
				throw missing(properties.store());
			}
			if (cache.isOn() && !ClassUtils.isPresent("com.github.benmanes.caffeine.cache.Cache", null)) {
				throw new IdempotentConfigurationException(
						"idempotent.replay-cache.max-size is set, but Caffeine is not on the class path.",
						"Add com.github.ben-manes.caffeine:caffeine to the application, or omit the property.", null);
			}
		}

		/**
		 * Creates the exception for an application without a store.
		 * @param configured the configured store, or {@code null}
		 */
		static IdempotentConfigurationException missing(IdempotencyProperties.@Nullable Store configured) {
			String missing = (configured == null) ? "There is no store for idempotency keys." : "idempotent.store is "
					+ configured.name().toLowerCase(Locale.ROOT) + ", which this application does not have.";
			if (configured == IdempotencyProperties.Store.JDBC) {
				return new IdempotentConfigurationException(missing,
						"Add spring-boot-starter-jdbc and set spring.datasource.*, or set idempotent.store=redis; "
								+ "mark one of several DataSource beans as @Primary.",
						null);
			}
			return new IdempotentConfigurationException(missing,
					"Add spring-boot-starter-data-redis to the application and point spring.data.redis.* at a server, "
							+ "or add spring-boot-starter-jdbc and point spring.datasource.* at a database; "
							+ "mark one of several RedisConnectionFactory or DataSource beans as @Primary; "
							+ "declare a bean of type IdempotencyStore; or set idempotent.enabled=false.",
					null);
		}

	}

}
