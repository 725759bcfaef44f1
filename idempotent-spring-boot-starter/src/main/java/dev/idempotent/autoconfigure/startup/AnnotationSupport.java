package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.stream.RedisStreamListener;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

/**
 * What gives an annotation its effect.
 *
 * @param annotation what methods have
 * @param property switches it off
 * @param beanNames the beans that it consists of
 * @param pieces what it needs
 */
record AnnotationSupport(Class<? extends Annotation> annotation, String property, List<String> beanNames,
		List<Requirement> pieces) {

	/**
	 * Of web handlers.
	 */
	static final AnnotationSupport WEB = new AnnotationSupport(Idempotent.class, "idempotent.enabled",
			List.of("idempotencyStartup"), List.of(Requirement.SPRING_MVC, Requirement.BOOT_MVC, Requirement.JACKSON));

	/**
	 * Of all other methods.
	 */
	static final AnnotationSupport METHOD = new AnnotationSupport(Idempotent.class, "idempotent.enabled",
			List.of("idempotentMethodsCheck"), List.of(Requirement.JACKSON, Requirement.SPRING_TX));

	/**
	 * Of methods that append events.
	 */
	static final AnnotationSupport OUTBOX = new AnnotationSupport(TransactionalOutbox.class,
			"idempotent.outbox.enabled", List.of("outboxMethodsCheck", "outboxTopics"),
			List.of(Requirement.JACKSON, Requirement.SPRING_TX, Requirement.SPRING_JDBC, Requirement.DATA_SOURCE));

	/**
	 * Of methods that listen to streams.
	 */
	static final AnnotationSupport STREAM = new AnnotationSupport(RedisStreamListener.class,
			"idempotent.stream.enabled", List.of("redisStreamListenerContainer"),
			List.of(Requirement.SPRING_DATA_REDIS, Requirement.BOOT_REDIS, Requirement.REDIS));

	static final List<AnnotationSupport> ALL = List.of(WEB, METHOD, OUTBOX, STREAM);

	private static final Set<String> NO = Set.of("false", "off", "no", "0");

	/**
	 * Tells whether an annotation would have no effect, and the application has not said
	 * so itself.
	 */
	boolean isMissing(ConfigurableListableBeanFactory beans, Environment environment) {
		return isOn(this.property, environment) && !isRunning(beans);
	}

	boolean isRunning(ConfigurableListableBeanFactory beans) {
		return this.beanNames.stream().allMatch(beans::containsBeanDefinition);
	}

	@Nullable Requirement missingPiece(ConfigurableListableBeanFactory beans) {
		return this.pieces.stream().filter((piece) -> piece.problem(beans) != null).findFirst().orElse(null);
	}

	/**
	 * Says why a method's annotation would have no effect.
	 */
	IdempotentConfigurationException mistake(String described, ConfigurableListableBeanFactory beans) {
		Requirement missing = missingPiece(beans);
		String reason = (missing != null) ? Objects.requireNonNull(missing.problem(beans))
				: "what gives it one is excluded, or its conditions are not met (see --debug)";
		String action = (missing != null) ? missing.action() : "Do not exclude this library's auto-configuration";
		return mistake(described, reason, action);
	}

	/**
	 * Says that a method's annotation would have no effect.
	 * @param reason why, as a clause
	 * @param action what to do, without the full stop
	 */
	IdempotentConfigurationException mistake(String described, String reason, String action) {
		return new IdempotentConfigurationException("The @%s method %s would have no effect: %s."
			.formatted(this.annotation.getSimpleName(), described, reason),
				"%s, or set %s=false to disable it.".formatted(action, this.property), null);
	}

	/**
	 * Reads a switch. What is neither on nor off would be off without a word.
	 */
	static boolean isOn(String property, Environment environment) {
		String value = environment.getProperty(property, "true").toLowerCase(Locale.ROOT);
		if (!value.equals("true") && !NO.contains(value)) {
			throw new IdempotentConfigurationException("%s is neither true nor false.".formatted(property),
					"Set %s to true or false, or leave it out.".formatted(property), null);
		}
		return value.equals("true");
	}

}
