package dev.idempotent.outbox;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls a method of a bean for each event of a type that is appended to the topic
 * {@code handlers}, after the commit, in any instance of the application. An exception
 * repeats the call later, until the attempts of the event are exhausted. Events with a
 * key are handled in order.
 * <p>
 * By default, the method runs in a transaction that also removes the event: its work on
 * that database is done exactly once, and the events that it appends commit with it. Any
 * exception rolls the transaction back. Work in transactions of its own
 * ({@code REQUIRES_NEW}) and on other resources is done at least once.
 * <p>
 * The method may have a parameter of type {@code Map<String, String>} for the headers of
 * the event, and one other for the payload: {@code byte[]}, {@code String}, or any type
 * that the JSON payload is converted to. The call goes through the bean's proxy. If other
 * advice leaves the call out, makes it on another thread, hides its exception or, within
 * the transaction, repeats it, the attempt has failed: {@code @Retryable} belongs on
 * methods of other beans. A handler that commits its transaction itself, also by a
 * statement that does so implicitly, is called at least once, unless the process dies
 * before it ends.
 */
@Documented
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
public @interface OutboxHandler {

	/**
	 * The type of the events, such as {@code order.placed}.
	 * @return never blank
	 */
	String type();

	/**
	 * The name of the handler, which identifies it in rows, meters and operations. It is
	 * unique and must never change, because events that wait for a handler of another
	 * name are not handled.
	 * @return the name, of 1 to 200 characters without spaces and colons
	 */
	String name();

	/**
	 * Whether the method runs in a transaction that also removes the event. With
	 * {@code false}, it runs outside of a transaction and at least once, and its calls to
	 * other services carry idempotency keys that are the same at each attempt.
	 * @return {@code true} by default
	 */
	boolean transactional() default true;

	/**
	 * How many events a call gets at most. Above 1, the only parameter of the method is a
	 * {@code List} of payloads, one for each event that is due, of different keys, and
	 * their removal commits with the work of the call: all or none. If the call fails, it
	 * is repeated for each half of them, until the events that make it fail are alone.
	 * <p>
	 * The calls of such a method to other services carry no keys, and it must not commit
	 * its transaction itself, which would repeat the work for all of them.
	 * @return 1 by default: the method takes one event
	 */
	int batch() default 1;

}
