package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.saga.Saga;
import dev.idempotent.stream.RedisStreamListener;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport.ConditionAndOutcomes;
import org.springframework.core.env.Environment;

/**
 * A feature that gives an annotation its effect.
 *
 * @param annotation the annotation of methods
 * @param property the property that disables the feature
 * @param autoConfigurations the names of its auto-configurations, without what all share
 * @param beanNames the beans that the feature consists of
 * @param requirements what to do if a condition is not met, without the full stop
 * @param essential the properties that must not disable the feature of an annotated
 * method; none if the application may
 */
record Feature(Class<? extends Annotation> annotation, String property, List<String> autoConfigurations,
		List<String> beanNames, String requirements, List<String> essential) {

	private static final String DATABASE = "Add spring-boot-starter-jackson, and -jdbc or -data-jpa, to the "
			+ "application, point spring.datasource.* at a database, and mark one of several DataSource beans as @Primary";

	/**
	 * {@code @Idempotent} on web handlers.
	 */
	static final Feature WEB = new Feature(Idempotent.class, "idempotent.enabled",
			List.of("idempotency.IdempotencyWeb"), List.of("idempotencyStartup"),
			"Add spring-boot-starter-webmvc and -jackson to the application", List.of());

	/**
	 * {@code @Idempotent} on all other methods.
	 */
	static final Feature METHOD = new Feature(Idempotent.class, "idempotent.enabled",
			List.of("idempotency.IdempotencyMethod"), List.of("idempotentMethodsCheck"),
			"Add spring-boot-starter-jackson and org.springframework:spring-tx to the application", List.of());

	/**
	 * {@code @TransactionalOutbox}.
	 */
	static final Feature OUTBOX = new Feature(TransactionalOutbox.class, "idempotent.outbox.enabled",
			List.of("outbox.Outbox", "outbox.OutboxMethod"), List.of("outboxMethodsCheck", "outboxTopics"), DATABASE,
			List.of());

	/**
	 * {@code @OutboxHandler}. Without it, work that another instance has appended would
	 * never be done.
	 */
	static final Feature HANDLER = new Feature(OutboxHandler.class, "idempotent.outbox.enabled",
			List.of("outbox.Outbox"), List.of("outboxHandlersCheck"), DATABASE, List.of("idempotent.outbox.enabled"));

	/**
	 * {@code @RedisStreamListener}.
	 */
	static final Feature STREAM = new Feature(RedisStreamListener.class, "idempotent.stream.enabled",
			List.of("stream.RedisStream"), List.of("redisStreamListenerContainer"),
			"Add spring-boot-starter-data-redis to the application, point spring.data.redis.* at a server, and mark "
					+ "one of several RedisConnectionFactory beans as @Primary",
			List.of());

	/**
	 * {@code @Saga}. Without it, a method would leave its work half done.
	 */
	static final Feature SAGA = new Feature(Saga.class, "idempotent.saga.enabled", List.of("saga.Saga"),
			List.of("sagaMethodsCheck"), DATABASE, List.of("idempotent.enabled", "idempotent.saga.enabled"));

	static final List<Feature> ALL = List.of(WEB, METHOD, OUTBOX, HANDLER, STREAM, SAGA);

	private static final Set<String> FALSE = Set.of("false", "off", "no", "0");

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

	/**
	 * Finds the condition of the feature that is not met.
	 * @return Spring Boot's own words, or {@code null} if it has evaluated none
	 */
	@Nullable String unmetCondition(ConfigurableListableBeanFactory beans) {
		Map<String, ConditionAndOutcomes> report = ConditionEvaluationReport.get(beans)
			.getConditionAndOutcomesBySource();
		return this.autoConfigurations.stream()
			.map((name) -> report.get("dev.idempotent.autoconfigure." + name + "AutoConfiguration"))
			.filter(Objects::nonNull)
			.flatMap(ConditionAndOutcomes::stream)
			.map((condition) -> condition.getOutcome())
			.filter((outcome) -> !outcome.isMatch())
			.map((outcome) -> Objects.toString(outcome.getMessage()))
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
		String unmet = unmetCondition(beans);
		return (unmet != null) ? noEffect(method, unmet, this.requirements) : noEffect(method,
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
					"Set %s to true or false, or leave it out.".formatted(property));
		}
		return value.equals("true");
	}

}
