package dev.idempotent.idempotency.operation;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.OnPending;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * The settings of one operation, with defaults applied.
 *
 * @param name the operation name, part of every key that is not a client header; the
 * description of the method if all keys are, and none is set
 * @param guarantee the guarantee, never {@link Guarantee#DEFAULT}
 * @param lease how long a claim holds without renewal
 * @param retention how long a response is kept
 * @param onPending how to handle a duplicate while the first run is in progress
 */
public record OperationSettings(String name, Guarantee guarantee, Duration lease, Duration retention,
		OnPending onPending) {

	private static final Duration MIN_DURATION = Duration.ofMillis(1);

	/**
	 * Creates the default settings of operations: duplicates are refused.
	 * @param guarantee the guarantee, never {@link Guarantee#DEFAULT}
	 * @param lease how long a claim holds without renewal
	 * @param retention how long a response is kept
	 * @return the settings, without a name
	 */
	public static OperationSettings defaults(Guarantee guarantee, Duration lease, Duration retention) {
		return new OperationSettings("", guarantee, lease, retention, OnPending.REJECT);
	}

	/**
	 * Reads an annotation.
	 * @param type the target class
	 * @param method the method
	 * @param annotation its annotation
	 * @param defaults the defaults for unset attributes
	 * @return the settings
	 * @throws IdempotentConfigurationException if an attribute is invalid
	 */
	public static OperationSettings of(Class<?> type, Method method, Idempotent annotation,
			OperationSettings defaults) {
		String described = IdempotentConfigurationException.describe(type, method);
		OperationNames.check(described, annotation.name());
		Duration retention = duration(described, "retention", annotation.retention(), defaults.retention());
		Duration window = window(described, annotation);
		Duration shortest = (window != null) ? shorter(retention, window) : retention;
		Duration lease = duration(described, "lease", annotation.lease(), shorter(defaults.lease(), shortest));
		if (retention.compareTo(lease) < 0) {
			throw mistake(described, "has a retention of " + retention + ", shorter than its lease of " + lease,
					"Set a retention that is at least as long as the lease.", null);
		}
		if (shortest.compareTo(lease) < 0) {
			throw mistake(described, "has a window of " + window + ", shorter than its lease of " + lease,
					"Set a window that is at least as long as the lease.", null);
		}
		Guarantee guarantee = (annotation.guarantee() != Guarantee.DEFAULT) ? annotation.guarantee()
				: defaults.guarantee();
		return new OperationSettings(annotation.name().isEmpty() ? described : annotation.name(), guarantee, lease,
				retention, annotation.onPending());
	}

	/**
	 * Reads how long calls of a tool with equal arguments are retries.
	 * @param described the description of the method
	 * @param annotation its annotation
	 * @return the window, or {@code null} with another source of keys
	 * @throws IdempotentConfigurationException if it is missing, invalid or without
	 * effect
	 */
	public static @Nullable Duration window(String described, Idempotent annotation) {
		boolean ofTool = annotation.from() == KeySource.TOOL_CALL;
		if (ofTool && annotation.window().isEmpty()) {
			throw mistake(described, "takes its key from the call of a tool and has no window",
					"Set how long calls with equal arguments count as one, such as window = \"15m\".", null);
		}
		if (!ofTool && !annotation.window().isEmpty()) {
			throw mistake(described, "has a window, and does not take its key from the call of a tool",
					"Add from = KeySource.TOOL_CALL if it is a tool of Spring AI, or set retention instead.", null);
		}
		return ofTool ? duration(described, "window", annotation.window(), Duration.ZERO) : null;
	}

	/**
	 * Creates an exception for an invalid annotated method.
	 * @param described the description of the method
	 * @param mistake the mistake, without a full stop
	 * @param action how to correct it
	 * @param cause the cause, or {@code null}
	 * @return the exception to throw
	 */
	public static IdempotentConfigurationException mistake(String described, String mistake, String action,
			@Nullable Exception cause) {
		return IdempotentConfigurationException.ofMethod(Idempotent.class, described, mistake, action, cause);
	}

	/**
	 * Creates an exception for {@link Guarantee#TRANSACTION} without a database.
	 * @param described the description of the method
	 * @return the exception to throw
	 */
	public static IdempotentConfigurationException noDatabase(String described) {
		return mistake(described,
				"has Guarantee.TRANSACTION (from its annotation or idempotent.guarantee), and there is no DataSource, "
						+ "or several of which none is primary",
				"Add spring-boot-starter-jdbc (or -data-jpa) with a DataSource, mark one of several as @Primary, or use "
						+ "Guarantee.LEASE.",
				null);
	}

	/**
	 * Creates an exception for an invalid key expression.
	 * @param described the description of the method
	 * @param text the expression
	 * @param cause the reason
	 * @return the exception to throw
	 */
	public static IdempotentConfigurationException badExpression(String described, String text, Exception cause) {
		return mistake(described, "has the invalid key expression '" + text + "': " + cause.getMessage(),
				"Correct the SpEL expression in its attribute 'key'.", cause);
	}

	/**
	 * Describes the operation to observers.
	 * @param kind how it is called
	 * @return the operation
	 */
	public Operation observed(Kind kind) {
		return new Operation(kind, this.name, this.guarantee);
	}

	/**
	 * Returns whether a duplicate waits for the first run.
	 * @return {@code false} if it is refused
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
			return duration(text);
		}
		catch (IllegalArgumentException ex) {
			throw mistake(described,
					"has the " + attribute + " '" + text + "', which is not a duration between 1 ms and 10 years",
					"Use a format such as 30s, 24h or PT30S.", ex);
		}
	}

	/**
	 * Parses a duration of an annotation.
	 * @param text such as {@code 30s} or {@code PT30S}
	 * @return the duration
	 * @throws IllegalArgumentException if it is not one between 1 ms and 10 years
	 */
	public static Duration duration(String text) {
		Duration duration = DurationFormatterUtils.detectAndParse(text);
		if (duration.compareTo(MIN_DURATION) < 0 || duration.compareTo(IdempotencyStore.MAX_DURATION) > 0) {
			throw new IllegalArgumentException("The duration is too short or too long");
		}
		return duration;
	}

	/**
	 * What the startup log tells about one annotated method.
	 *
	 * @param method the class and the method
	 * @param guarantee the guarantee, never {@link Guarantee#DEFAULT}
	 * @param byDefault whether the annotation does not specify the guarantee
	 * @param description the method and its settings, in one line
	 * @param keyName the name of the operation if it is part of its keys, else
	 * {@code null}
	 */
	public record OperationSummary(String method, Guarantee guarantee, boolean byDefault, String description,
			@Nullable String keyName) {

		/**
		 * Summarizes an annotated method whose annotation is known to be valid.
		 * @param type the target class
		 * @param method the method
		 * @param annotation its annotation
		 * @param defaults the defaults for unset attributes
		 * @return the summary
		 */
		public static OperationSummary of(Class<?> type, Method method, Idempotent annotation,
				OperationSettings defaults) {
			OperationSettings settings = OperationSettings.of(type, method, annotation, defaults);
			String described = IdempotentConfigurationException.describe(type, method);
			String name = settings.name().equals(described) ? "" : " (" + settings.name() + ")";
			String source = "from the " + annotation.from().name().toLowerCase(Locale.ROOT);
			String key = !annotation.key().isEmpty() ? annotation.key() : source;
			if (annotation.from() == KeySource.TOOL_CALL) {
				key = (!annotation.key().isEmpty() ? annotation.key() + " or " : "") + "from the tool call, window "
						+ window(described, annotation);
			}
			return new OperationSummary(described, settings.guarantee(), annotation.guarantee() == Guarantee.DEFAULT,
					"%s%s: %s, key %s, lease %s, retention %s".formatted(described, name, settings.guarantee(), key,
							settings.lease(), settings.retention()),
					(annotation.key().isEmpty() && annotation.from() == KeySource.HEADER) ? null : settings.name());
		}

	}

}
