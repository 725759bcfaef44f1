package dev.idempotent.autoconfigure.startup;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The beans of this library that cannot be created if the application's properties are
 * wrong, and that need no bean of the application: one of those may need the web server,
 * which has not been created yet.
 */
final class ConfiguredBeans {

	private static final String AUTOCONFIGURE = "dev.idempotent.autoconfigure.";

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
		create("idempotencyRequiredStore");
	}

	private void create(String name) {
		if (this.beans.containsBeanDefinition(name)) {
			this.beans.getBean(name);
		}
	}

}
