package dev.idempotent;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A mistake in the configuration or in an annotation that stops the application at
 * start-up.
 */
public class IdempotentConfigurationException extends RuntimeException {

	private final String action;

	/**
	 * Creates an exception.
	 * @param description what is wrong, with the name of the property or method
	 * @param action what to do
	 */
	public IdempotentConfigurationException(String description, String action) {
		this(description, action, null);
	}

	/**
	 * Creates an exception.
	 * @param description what is wrong, with the name of the property or method
	 * @param action what to do
	 * @param cause the failure that revealed the mistake, or {@code null}
	 */
	public IdempotentConfigurationException(String description, String action, @Nullable Throwable cause) {
		super(description, cause);
		this.action = action;
	}

	/**
	 * Creates the exception for an annotation that is invalid on a method.
	 * @param annotation the annotation
	 * @param method the method, as {@link #describe} names it
	 * @param problem what is wrong, as a predicate without the full stop
	 * @param action what to do, as a sentence
	 * @param cause what revealed the problem, or {@code null}
	 * @return the exception to throw
	 */
	public static IdempotentConfigurationException ofMethod(Class<? extends Annotation> annotation, String method,
			String problem, String action, @Nullable Throwable cause) {
		return new IdempotentConfigurationException(
				"The @" + annotation.getSimpleName() + " method " + method + " " + problem + ".", action, cause);
	}

	/**
	 * Describes a method for messages.
	 * @param type the class of the bean
	 * @param method the method
	 * @return class, method and parameter types
	 */
	public static String describe(Class<?> type, Method method) {
		return type.getName() + "." + method.getName()
				+ Arrays.stream(method.getParameterTypes())
					.map(Class::getTypeName)
					.collect(Collectors.joining(", ", "(", ")"));
	}

	/**
	 * Returns the action that corrects the mistake.
	 * @return a sentence
	 */
	public String getAction() {
		return this.action;
	}

}
