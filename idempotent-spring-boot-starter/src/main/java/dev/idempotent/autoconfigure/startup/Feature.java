package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.stream.RedisStreamListener;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Controller;

/**
 * A feature that gives an annotation its effect.
 *
 * @param annotation the annotation of methods
 * @param property the property that disables the feature
 * @param beanNames the beans that the feature consists of
 * @param requirements what the feature requires of the application
 */
record Feature(Class<? extends Annotation> annotation, String property, List<String> beanNames,
		List<Requirement> requirements) {

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
	 * {@code @RedisStreamListener}.
	 */
	static final Feature STREAM = new Feature(RedisStreamListener.class, "idempotent.stream.enabled",
			List.of("redisStreamListenerContainer"),
			List.of(Requirement.SPRING_DATA_REDIS, Requirement.BOOT_REDIS, Requirement.REDIS));

	static final List<Feature> ALL = List.of(WEB, METHOD, OUTBOX, STREAM);

	private static final Set<String> FALSE = Set.of("false", "off", "no", "0");

	private static final List<String> MAPPINGS = List.of("org.springframework.web.bind.annotation.RequestMapping",
			"org.springframework.web.service.annotation.HttpExchange");

	/**
	 * Returns whether the feature is missing although the application has not disabled
	 * it.
	 */
	boolean isMissing(ConfigurableListableBeanFactory beans, Environment environment) {
		return isTrue(this.property, environment) && !isPresent(beans);
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
	IdempotentConfigurationException noEffect(AnnotatedMethod method, ConfigurableListableBeanFactory beans) {
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
		return method.invalid("would have no effect: " + reason,
				"%s, or set %s=false to disable it.".formatted(action, this.property), null);
	}

	static boolean isWebHandler(AnnotatedMethod method) {
		MergedAnnotations annotations = MergedAnnotations.from(method.method(), SearchStrategy.TYPE_HIERARCHY);
		return MergedAnnotations.from(method.type(), SearchStrategy.TYPE_HIERARCHY).isPresent(Controller.class)
				&& MAPPINGS.stream().anyMatch(annotations::isPresent);
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

}
