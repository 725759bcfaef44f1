package dev.idempotent.saga;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import dev.idempotent.idempotency.Idempotent;

/**
 * Makes a method of a bean a saga. When it returns, each of its {@link SagaSteps steps}
 * has taken effect once; otherwise those that took effect are undone in reverse order. If
 * its process dies, any instance finishes or undoes it by running the method again:
 * recorded steps are not repeated, but return their recorded results.
 * <p>
 * Each run gets the arguments as they are read back from JSON, no security context and no
 * request attributes. Outside its steps, the method must not have effects and must not
 * depend on the time, on random numbers or on data that changes.
 * <p>
 * A call must not be made in a transaction or in another saga. It returns the result of
 * the saga, or throws one of these exceptions:
 * <ul>
 * <li>{@link SagaCompensatedException} if the saga was undone,</li>
 * <li>{@link SagaHaltedException} if an operator must decide,</li>
 * <li>{@link dev.idempotent.idempotency.IdempotencyPendingException} if the saga is still
 * open,</li>
 * <li>{@link dev.idempotent.idempotency.IdempotencyMismatchException} if its key has a
 * saga with other arguments,</li>
 * <li>what the method throws before its first step.</li>
 * </ul>
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Saga {

	/**
	 * A SpEL expression over the parameters, such as {@code #command.id}, that yields the
	 * key: one key is one saga, and a retry gets its result. By default, the key of the
	 * enclosing {@link Idempotent} run.
	 * @return the expression, or an empty string for the default
	 */
	String key() default "";

	/**
	 * The name under which the saga is stored, and part of its key. Any instance that has
	 * a saga of this name can take it over. It is unique and must never change, because
	 * open sagas of another name are not continued.
	 * @return the name, of 1 to 100 characters, not blank
	 */
	String name();

	/**
	 * The parts of the arguments that a retry may change, so that they are not compared:
	 * names of parameters, and JSON pointers that begin with the name of a parameter
	 * ({@code /command/requestedAt}); {@code "*"} alone compares the key only. The saga
	 * keeps the arguments of its first call.
	 * @return the parts, none by default
	 */
	String[] ignore() default {};

	/**
	 * The time after which a saga that has not completed is undone, such as {@code 10m}.
	 * It begins with the first step, or with {@link Sagas#start}. Placeholders are
	 * resolved.
	 * @return a duration between 1 ms and 10 years
	 */
	String timeout() default "10m";

}
