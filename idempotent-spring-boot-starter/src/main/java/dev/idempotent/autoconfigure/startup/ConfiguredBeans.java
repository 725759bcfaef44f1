package dev.idempotent.autoconfigure.startup;

import java.util.List;

import dev.idempotent.idempotency.IdempotencyStore;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The beans of this library that cannot be created if the application's properties are
 * wrong.
 */
final class ConfiguredBeans {

	private static final String AUTOCONFIGURE = "dev.idempotent.autoconfigure.";

	/**
	 * A store of the application may need the server.
	 */
	private static final List<String> OWN_STORES = List.of("redisIdempotencyStore", "jdbcIdempotencyStore");

	private final ConfigurableListableBeanFactory beans;

	ConfiguredBeans(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Creates them now.
	 * @throws RuntimeException if a property is wrong
	 */
	void create() {
		for (String name : this.beans.getBeanDefinitionNames()) {
			Class<?> type = this.beans.getType(name, false);
			if (type != null && type.getName().startsWith(AUTOCONFIGURE)
					&& type.isAnnotationPresent(ConfigurationProperties.class)) {
				this.beans.getBean(name);
			}
		}
		create("idempotencyNamespace");
		create("idempotencyKeyInterceptor");
		if (OWN_STORES.containsAll(List.of(this.beans.getBeanNamesForType(IdempotencyStore.class, true, false)))) {
			create("idempotencyGuard");
		}
	}

	private void create(String name) {
		if (this.beans.containsBeanDefinition(name)) {
			this.beans.getBean(name);
		}
	}

}
