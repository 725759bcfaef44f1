package dev.idempotent.autoconfigure.idempotency;

import java.util.List;

import dev.idempotent.autoconfigure.EncryptionConfiguration;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.caffeine.CachingIdempotencyStore;
import dev.idempotent.idempotency.claim.CurrentTrace;
import dev.idempotent.idempotency.claim.IdempotencyEngine;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.claim.KeyAdministration;
import dev.idempotent.idempotency.operation.OperationSettings;
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
	IdempotencyNamespace idempotencyNamespace(IdempotencyProperties properties,
			@Value("${spring.application.name:}") String applicationName) {
		return IdempotencyNamespace.of(properties.namespace(), applicationName);
	}

	@Bean
	OperationSettings idempotencyDefaults(IdempotencyProperties properties) {
		return OperationSettings.defaults(properties.defaultGuarantee(), properties.lease(), properties.retention());
	}

	@Bean
	KeySettings idempotencyKeySettings(IdempotencyNamespace namespace, IdempotencyProperties properties,
			ReplayCacheProperties cache) {
		return new KeySettings(namespace.name(), properties.maxRun(),
				properties.onStoreFailure() == OnStoreFailure.PROCEED, cache.isOn() ? cache.ttl() : null);
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

}
