package dev.idempotent.outbox;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Appends an event when the method returns, in the transaction that the method runs in:
 * the event is delivered at least once if that transaction commits, and never if it does
 * not. A call without a read-write transaction fails before the method runs; a method
 * that throws appends nothing.
 * <p>
 * A web handler that responds with a status of 400 or above appends nothing, unless the
 * {@link #condition()} refers to {@code #status}. A call whose status is not known when
 * it returns, such as a call that returns a {@code View} of the application, fails.
 * <p>
 * The expressions are SpEL. They can use the arguments by name and {@code #result}, of a
 * {@code ResponseEntity} its body, but not types, beans or constructors. The payload is
 * written as JSON when the method returns, before JPA flushes: values of {@code @Version}
 * or {@code @UpdateTimestamp} are the old ones.
 *
 * @see Outbox
 */
@Documented
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(TransactionalOutbox.Several.class)
public @interface TransactionalOutbox {

	/**
	 * The type of the event, such as {@code order.created}.
	 * @return never blank
	 */
	String type();

	/**
	 * The topic of the event, as {@code <publisher>:<destination>}, such as
	 * {@code redis-stream:orders}. Placeholders, as in
	 * {@code redis-stream:${shop.topic}}, are replaced at startup.
	 * @return the topic; empty for {@code idempotent.outbox.default-topic}
	 */
	String topic() default "";

	/**
	 * An expression for the key of the event, such as {@code #result.id}: the subject of
	 * the CloudEvent. Events of the same topic and key are delivered in order.
	 * @return the expression; empty for none
	 */
	String key() default "";

	/**
	 * Whether the key orders the events.
	 * @return {@code false} for a key without an order
	 */
	boolean ordered() default true;

	/**
	 * An expression for the payload of the event. Its value must not be null.
	 * @return the expression
	 */
	String payload() default "#result";

	/**
	 * Whether the payload is a collection or an array whose elements each become an
	 * event. The expressions for key and condition can use the element as {@code #item}.
	 * @return {@code false} by default
	 */
	boolean forEach() default false;

	/**
	 * An expression for whether to append the event, such as
	 * {@code #result.amount > 100}. On a web handler it can use {@code #status}, the
	 * status of the response; it then decides for each status.
	 * @return the expression; empty for always
	 */
	String condition() default "";

	/**
	 * Container annotation for several events of one method, in this order.
	 */
	@Documented
	@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@interface Several {

		/**
		 * The events.
		 * @return one annotation for each
		 */
		TransactionalOutbox[] value();

	}

}
