package dev.idempotent.autoconfigure;

import java.util.Locale;

import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.idempotency.IdempotencyGuard;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.caffeine.CachingIdempotencyStore;
import dev.idempotent.idempotency.operation.OperationDefaults;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;

/**
 * What web handlers, methods and code have in common.
 */
@AutoConfiguration(after = { IdempotencyRedisAutoConfiguration.class, IdempotencyJdbcAutoConfiguration.class })
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@EnableConfigurationProperties({ IdempotencyProperties.class, ReplayCacheProperties.class })
public final class IdempotencyAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	IdempotencyGuard idempotencyGuard(ObjectProvider<IdempotencyStore> stores, IdempotencyProperties properties,
			ReplayCacheProperties cache) {
		IdempotencyStore store = stores.getIfAvailable();
		if (store == null) {
			throw noStore(properties.store());
		}
		return new IdempotencyGuard(cached(store, cache), properties.onStoreFailure(), properties.maxRun());
	}

	@Bean
	IdempotencyNamespace idempotencyNamespace(IdempotencyProperties properties,
			@Value("${spring.application.name:}") String applicationName) {
		return IdempotencyNamespace.of(properties.namespace(), applicationName);
	}

	@Bean
	OperationDefaults idempotencyDefaults(IdempotencyProperties properties) {
		return new OperationDefaults(properties.guarantee().guarantee(), properties.lease(), properties.retention());
	}

	private static IdempotencyConfigurationException noStore(IdempotencyProperties.@Nullable Store asked) {
		String missing = (asked == null) ? "There is no store to keep idempotency keys in."
				: "idempotent.store is " + asked.name().toLowerCase(Locale.ROOT) + ", and the application has none.";
		if (asked == IdempotencyProperties.Store.JDBC) {
			return new IdempotencyConfigurationException(missing,
					"Add spring-boot-starter-jdbc and set spring.datasource.*, or set idempotent.store=redis; "
							+ "mark one of several DataSource beans as @Primary.",
					null);
		}
		return new IdempotencyConfigurationException(missing,
				"Add spring-boot-starter-data-redis to the application and point spring.data.redis.* at a server, "
						+ "or add spring-boot-starter-jdbc and point spring.datasource.* at a database; "
						+ "mark one of several RedisConnectionFactory or DataSource beans as @Primary; "
						+ "declare a bean of type IdempotencyStore; or set idempotent.enabled=false.",
				null);
	}

	private static IdempotencyStore cached(IdempotencyStore store, ReplayCacheProperties cache) {
		if (!cache.isOn()) {
			return store;
		}
		if (!ClassUtils.isPresent("com.github.benmanes.caffeine.cache.Cache", null)) {
			throw new IdempotencyConfigurationException(
					"idempotent.web.replay-cache.max-size is set, and the cache needs Caffeine.",
					"Add com.github.ben-manes.caffeine:caffeine to the application, or leave the property out.", null);
		}
		return new CachingIdempotencyStore(store, cache.maxSize().toBytes(), cache.ttl());
	}

}
