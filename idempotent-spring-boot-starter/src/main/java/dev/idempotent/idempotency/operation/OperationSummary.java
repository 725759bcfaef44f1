package dev.idempotent.idempotency.operation;

import java.lang.reflect.Method;
import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;

/**
 * What the startup log tells about one annotated method.
 *
 * @param method the class and the method
 * @param guarantee the guarantee, never {@link Guarantee#DEFAULT}
 * @param byDefault whether the annotation does not specify the guarantee
 * @param description the method and its settings, in one line
 */
public record OperationSummary(String method, Guarantee guarantee, boolean byDefault, String description) {

	/**
	 * Summarizes an annotated method whose annotation is known to be valid.
	 * @param type the target class
	 * @param method the method
	 * @param annotation its annotation
	 * @param defaults the defaults for unset attributes
	 * @return the summary
	 */
	public static OperationSummary of(Class<?> type, Method method, Idempotent annotation, OperationSettings defaults) {
		OperationSettings settings = OperationSettings.of(type, method, annotation, defaults);
		String described = IdempotentConfigurationException.describe(type, method);
		String name = settings.name().equals(described) ? "" : " (" + settings.name() + ")";
		String key = !annotation.key().isEmpty() ? annotation.key()
				: "from the " + annotation.from().name().toLowerCase(Locale.ROOT);
		return new OperationSummary(described, settings.guarantee(), annotation.guarantee() == Guarantee.DEFAULT,
				"%s%s: %s, key %s, lease %s, retention %s".formatted(described, name, settings.guarantee(), key,
						settings.lease(), settings.retention()));
	}

}
