package dev.idempotent.autoconfigure.idempotency;

import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Checks that there is a store, and Caffeine if the cache needs it, without creating
 * beans of the application: a store or a data source may depend on the web server.
 */
final class RequiredStore {

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
