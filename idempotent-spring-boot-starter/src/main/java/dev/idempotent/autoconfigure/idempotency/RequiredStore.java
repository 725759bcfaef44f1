package dev.idempotent.autoconfigure.idempotency;

import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Checks that there is a store, and what its cache needs, without creating any bean of
 * the application: a store or a data source may need the web server.
 */
final class RequiredStore {

	RequiredStore(ListableBeanFactory beans, IdempotencyProperties properties, ReplayCacheProperties cache) {
		if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, IdempotencyStore.class, true,
				false).length == 0) {
			throw missing(properties.store());
		}
		if (cache.isOn() && !ClassUtils.isPresent("com.github.benmanes.caffeine.cache.Cache", null)) {
			throw new IdempotentConfigurationException(
					"idempotent.replay-cache.max-size is set, and the cache needs Caffeine.",
					"Add com.github.ben-manes.caffeine:caffeine to the application, or leave the property out.", null);
		}
	}

	/**
	 * Says that there is none.
	 * @param asked what the application asks for
	 */
	static IdempotentConfigurationException missing(IdempotencyProperties.@Nullable Store asked) {
		String missing = (asked == null) ? "There is no store to keep idempotency keys in."
				: "idempotent.store is " + asked.name().toLowerCase(Locale.ROOT) + ", and the application has none.";
		if (asked == IdempotencyProperties.Store.JDBC) {
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
