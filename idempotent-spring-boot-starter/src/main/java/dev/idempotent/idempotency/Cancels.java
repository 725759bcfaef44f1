package dev.idempotent.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a web handler that undoes what another one, its action, has done. A request to it
 * names the key of the action in the header {@code Idempotency-Cancels}. If the action
 * had no effect, it is prevented from having one later, and the handler runs only if the
 * caller states that the action was done.
 * <p>
 * Both handlers must be {@link Idempotent} with {@link Guarantee#TRANSACTION} of one
 * transaction manager, and take their keys from the header. This is checked at startup.
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
