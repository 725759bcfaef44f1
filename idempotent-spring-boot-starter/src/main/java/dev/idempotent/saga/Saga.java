package dev.idempotent.saga;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import dev.idempotent.idempotency.Idempotent;

/**
 * Makes a method of a bean a saga. When it returns, each of its {@link SagaSteps steps}
 * has taken effect once; otherwise those that took effect are undone in reverse order.
 * Any instance finishes or undoes it if its process dies, by running the method again:
 * recorded steps are not repeated but return their recorded results.
 * <p>
 * Each run gets the arguments as they are read back from JSON, no security context and no
 * request attributes. Outside its steps the method must not have effects, and must not
 * depend on the time, on random numbers or on data that changes.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Saga {

	/**
	 * A SpEL expression over the parameters, such as {@code #command.id}, that yields the
	 * key: one key is one saga, and a retry gets its result. By default, the key of the
	 * enclosing {@link Idempotent} run.
	 * @return the expression, or an empty text for the default
	 */
	String key() default "";

	/**
	 * The name under which the saga is stored. Any instance that has a saga of this name
	 * can take it over.
	 * @return the name; by default, the simple name of the class, a dot and the name of
	 * the method
	 */
	String name() default "";

	/**
	 * The time after which a saga that has not completed is undone, from its first step
	 * on, such as {@code 10m}. Placeholders are resolved.
	 * @return a duration of at least 1 ms
	 */
	String timeout() default "10m";

}
