package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.saga.Saga;
import dev.idempotent.stream.RedisStreamListener;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * A feature that gives an annotation its effect.
 *
 * @param annotation the annotation of methods
 * @param property the property that disables the feature
 * @param beanNames the beans that the feature consists of
 * @param requirements what the feature requires of the application
 * @param essential the properties that must not disable the feature of an annotated
 * method; none if the application may
 */
record Feature(Class<? extends Annotation> annotation, String property, List<String> beanNames,
		List<Requirement> requirements, List<String> essential) {

	/**
	 * {@code @Idempotent} on web handlers.
	 */
	static final Feature WEB = new Feature(Idempotent.class, "idempotent.enabled", List.of("idempotencyStartup"),
			List.of(Requirement.SPRING_MVC, Requirement.BOOT_MVC, Requirement.JACKSON));

	/**
	 * {@code @Idempotent} on all other methods.
	 */
	static final Feature METHOD = new Feature(Idempotent.class, "idempotent.enabled", List.of("idempotentMethodsCheck"),
			List.of(Requirement.JACKSON, Requirement.SPRING_TX));

	/**
	 * {@code @TransactionalOutbox}.
	 */
	static final Feature OUTBOX = new Feature(TransactionalOutbox.class, "idempotent.outbox.enabled",
			List.of("outboxMethodsCheck", "outboxTopics"),
			List.of(Requirement.JACKSON, Requirement.SPRING_TX, Requirement.SPRING_JDBC, Requirement.DATA_SOURCE));

	/**
	 * {@code @OutboxHandler}. Without it, work that another instance has appended would
	 * never be done.
	 */
	static final Feature HANDLER = new Feature(OutboxHandler.class, "idempotent.outbox.enabled",
			List.of("outboxHandlersCheck"), OUTBOX.requirements, List.of("idempotent.outbox.enabled"));

	/**
	 * {@code @RedisStreamListener}.
	 */
	static final Feature STREAM = new Feature(RedisStreamListener.class, "idempotent.stream.enabled",
			List.of("redisStreamListenerContainer"),
			List.of(Requirement.SPRING_DATA_REDIS, Requirement.BOOT_REDIS, Requirement.REDIS));

	/**
	 * {@code @Saga}. Without it, a method would leave its work half done.
	 */
	static final Feature SAGA = new Feature(Saga.class, "idempotent.saga.enabled", List.of("sagaMethodsCheck"),
			List.of(Requirement.JACKSON, Requirement.SPRING_TX, Requirement.SPRING_JDBC, Requirement.DATA_SOURCE),
			List.of("idempotent.enabled", "idempotent.saga.enabled"));

	static final List<Feature> ALL = List.of(WEB, METHOD, OUTBOX, HANDLER, STREAM, SAGA);

	private static final Set<String> FALSE = Set.of("false", "off", "no", "0");

	private Feature(Class<? extends Annotation> annotation, String property, List<String> beanNames,
			List<Requirement> requirements) {
		this(annotation, property, beanNames, requirements, List.of());
	}

	/**
	 * Returns whether the feature is missing although the application has not disabled
	 * it, or must not.
	 */
	boolean isMissing(ConfigurableListableBeanFactory beans, Environment environment) {
		return !isDisabled(environment) && !isPresent(beans);
	}

	/**
	 * Returns whether the application has disabled the feature, and may do so.
	 */
	boolean isDisabled(Environment environment) {
		return !isTrue(this.property, environment) && this.essential.isEmpty();
	}

	boolean isPresent(ConfigurableListableBeanFactory beans) {
		return this.beanNames.stream().allMatch(beans::containsBeanDefinition);
	}

	@Nullable Requirement unmetRequirement(ConfigurableListableBeanFactory beans) {
		return this.requirements.stream()
			.filter((requirement) -> requirement.problem(beans) != null)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Creates the exception for a method whose annotation would have no effect because
	 * this feature is missing.
	 */
	IdempotentConfigurationException noEffect(AnnotatedMethod method, ConfigurableListableBeanFactory beans,
			Environment environment) {
		for (String each : this.essential) {
			if (!isTrue(each, environment)) {
				return noEffect(method, each + " is false", "Remove the property");
			}
		}
		Requirement unmet = unmetRequirement(beans);
		return (unmet != null) ? noEffect(method, Objects.requireNonNull(unmet.problem(beans)), unmet
			.action()) : noEffect(method,
					"the auto-configuration of its feature is excluded, or its conditions are not met (see --debug)",
					"Do not exclude the auto-configuration of this library");
	}

	/**
	 * Creates the exception for a method whose annotation would have no effect.
	 * @param reason the reason, as a clause
	 * @param action what to do, without the full stop
	 */
	IdempotentConfigurationException noEffect(AnnotatedMethod method, String reason, String action) {
		String alternative = this.essential.isEmpty() ? ", or set %s=false to disable it.".formatted(this.property)
				: ", or remove the annotation.";
		return method.invalid("would have no effect: " + reason, action + alternative, null);
	}

	/**
	 * Reads a boolean property, {@code true} by default.
	 * @throws IdempotentConfigurationException if it has another value: the conditions of
	 * Spring Boot would take that for {@code false}
	 */
	static boolean isTrue(String property, Environment environment) {
		String value = environment.getProperty(property, "true").toLowerCase(Locale.ROOT);
		if (!value.equals("true") && !FALSE.contains(value)) {
			throw new IdempotentConfigurationException("%s is neither true nor false.".formatted(property),
					"Set %s to true or false, or leave it out.".formatted(property), null);
		}
		return value.equals("true");
	}

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
				"spring-boot-data-redis is not on the class path",
				"Add spring-boot-starter-data-redis to the application"),

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

}
