package dev.idempotent.idempotency.operation;

import java.lang.reflect.Method;
import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.OnPending;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * The terms of an annotated method, checked and with the defaults filled in.
 *
 * @param name the operation name, part of every key that is not a client header
 * @param guarantee the guarantee, never the default
 * @param lease how long a claim holds without renewal
 * @param retention how long a response is stored
 * @param onPending how to treat a duplicate while the first run is in progress
 */
public record OperationTerms(String name, Guarantee guarantee, Duration lease, Duration retention,
		OnPending onPending) {

	private static final Duration MIN_DURATION = Duration.ofMillis(1);

	/**
	 * Reads an annotation.
	 * @param type the class that has the method
	 * @param method the method
	 * @param annotation its annotation
	 * @param defaults the defaults of attributes that the annotation leaves out
	 * @return the terms
	 * @throws IdempotentConfigurationException if the annotation is invalid
	 */
	public static OperationTerms of(Class<?> type, Method method, Idempotent annotation, OperationDefaults defaults) {
		String described = IdempotentConfigurationException.describe(type, method);
		Duration retention = duration(described, "retention", annotation.retention(), defaults.retention());
		Duration lease = duration(described, "lease", annotation.lease(), shorter(defaults.lease(), retention));
		if (retention.compareTo(lease) < 0) {
			throw mistake(described, "has a retention of " + retention + ", shorter than its lease of " + lease,
					"Let the retention be at least as long as the lease.", null);
		}
		Guarantee guarantee = (annotation.guarantee() != Guarantee.DEFAULT) ? annotation.guarantee()
				: defaults.guarantee();
		return new OperationTerms(annotation.name().isEmpty() ? described : annotation.name(), guarantee, lease,
				retention, annotation.onPending());
	}

	/**
	 * Creates the exception for an annotation that is invalid on a method.
	 * @param described the method, as
	 * {@link IdempotentConfigurationException#describe(Class, Method)} names it
	 * @param mistake what is wrong, as a predicate without the full stop
	 * @param action what to do, as a sentence
	 * @param cause what revealed the problem, or {@code null}
	 * @return the exception to throw
	 */
	public static IdempotentConfigurationException mistake(String described, String mistake, String action,
			@Nullable Exception cause) {
		return IdempotentConfigurationException.ofMethod(Idempotent.class, described, mistake, action, cause);
	}

	/**
	 * Creates the exception for {@link Guarantee#TRANSACTION} without a database.
	 * @param described the method
	 * @return the exception to throw
	 */
	public static IdempotentConfigurationException noDatabase(String described) {
		return mistake(described,
				"has Guarantee.TRANSACTION (stated, or from idempotent.guarantee), and there is no database to keep it in",
				"Add spring-boot-starter-jdbc (or -data-jpa) with a DataSource, or use Guarantee.LEASE.", null);
	}

	/**
	 * Creates the exception for an invalid key expression.
	 * @param described the method
	 * @param text the expression
	 * @param cause why it is invalid
	 * @return the exception to throw
	 */
	public static IdempotentConfigurationException badExpression(String described, String text, Exception cause) {
		return mistake(described, "has the key expression '" + text + "': " + cause.getMessage(),
				"Correct the SpEL expression in its attribute 'key'.", cause);
	}

	/**
	 * Returns whether a duplicate waits for the first run.
	 * @return whether it waits and is not refused
	 */
	public boolean waits() {
		return this.onPending == OnPending.WAIT;
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) <= 0) ? one : other;
	}

	private static Duration duration(String described, String attribute, String text, Duration byDefault) {
		if (text.isEmpty()) {
			return byDefault;
		}
		try {
			Duration duration = DurationFormatterUtils.detectAndParse(text);
			if (duration.compareTo(MIN_DURATION) >= 0 && duration.compareTo(IdempotencyStore.MAX_DURATION) <= 0) {
				return duration;
			}
		}
		catch (IllegalArgumentException ex) {
			throw badDuration(described, attribute, text, ex);
		}
		throw badDuration(described, attribute, text, null);
	}

	private static IdempotentConfigurationException badDuration(String described, String attribute, String text,
			@Nullable Exception cause) {
		return mistake(described,
				"has the " + attribute + " '" + text + "', which is not a duration between 1 ms and 10 years",
				"Write it like 30s, 24h or PT30S.", cause);
	}

}
