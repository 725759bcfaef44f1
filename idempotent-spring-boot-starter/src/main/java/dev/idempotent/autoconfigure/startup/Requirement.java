package dev.idempotent.autoconfigure.startup;

import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * A requirement of a {@link Feature}: a library, detected by one of its classes, or a
 * single bean of that class.
 */
enum Requirement {

	JACKSON("tools.jackson.databind.json.JsonMapper", "Jackson 3 is not on the class path",
			"Add spring-boot-starter-jackson to the application"),

	SPRING_TX("org.springframework.transaction.interceptor.TransactionInterceptor",
			"spring-tx is not on the class path", "Add org.springframework:spring-tx to the application"),

	SPRING_JDBC("org.springframework.jdbc.datasource.ConnectionHolder", "spring-jdbc is not on the class path",
			"Add spring-boot-starter-jdbc or -data-jpa to the application"),

	SPRING_MVC("org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping",
			"Spring MVC is not on the class path", "Add spring-boot-starter-webmvc to the application"),

	BOOT_MVC("org.springframework.boot.web.servlet.FilterRegistrationBean",
			"spring-boot-servlet is not on the class path", "Add spring-boot-starter-webmvc to the application"),

	SPRING_DATA_REDIS("org.springframework.data.redis.connection.RedisConnectionFactory",
			"Spring Data Redis is not on the class path", "Add spring-boot-starter-data-redis to the application"),

	BOOT_REDIS("org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails",
			"spring-boot-data-redis is not on the class path", "Add spring-boot-starter-data-redis to the application"),

	REDIS(SPRING_DATA_REDIS.type, null,
			"Point spring.data.redis.* at a server, or mark one RedisConnectionFactory bean as @Primary"),

	DATA_SOURCE("javax.sql.DataSource", null,
			"Point spring.datasource.* at a database, or mark one DataSource bean as @Primary");

	private final String type;

	/**
	 * The problem if the library is missing; {@code null} for a bean.
	 */
	private final @Nullable String absence;

	private final String action;

	Requirement(String type, @Nullable String absence, String action) {
		this.type = type;
		this.absence = absence;
		this.action = action;
	}

	String action() {
		return this.action;
	}

	/**
	 * Determines why the requirement is not met.
	 * @return the problem, as a clause, or {@code null} if it is met
	 */
	@Nullable String problem(ConfigurableListableBeanFactory beans) {
		ClassLoader classPath = beans.getBeanClassLoader();
		if (this.absence != null) {
			return ClassUtils.isPresent(this.type, classPath) ? null : this.absence;
		}
		String simpleName = ClassUtils.getShortName(this.type);
		List<String> names = Arrays
			.asList(beans.getBeanNamesForType(ClassUtils.resolveClassName(this.type, classPath), true, false));
		if (names.isEmpty()) {
			return "there is no " + simpleName + " bean";
		}
		return (names.size() == 1 || names.stream().anyMatch((name) -> isPrimary(name, beans))) ? null
				: "there are %d %s beans, none of which is @Primary".formatted(names.size(), simpleName);
	}

	private static boolean isPrimary(String name, ConfigurableListableBeanFactory beans) {
		return beans.containsBeanDefinition(name) && isPrimary(beans.getMergedBeanDefinition(name));
	}

	private static boolean isPrimary(BeanDefinition definition) {
		return definition.isPrimary();
	}

}
