package dev.idempotent.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks the web handler that undoes another one, its action. A request to it names the
 * key of the action in {@code Idempotency-Cancels}. An action that had no effect is
 * prevented from having one later, and the handler does not run unless the caller knows
 * that it was done.
 * <p>
 * Both handlers must be {@link Idempotent} with {@link Guarantee#TRANSACTION} of one
 * transaction manager, and take their keys from the header. This is checked at start-up.
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Cancels {

	/**
	 * The action.
	 * @return the {@link Idempotent#name()} of its handler
	 */
	String value();

}
