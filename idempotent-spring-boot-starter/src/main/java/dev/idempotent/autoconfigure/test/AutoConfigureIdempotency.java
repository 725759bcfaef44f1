package dev.idempotent.autoconfigure.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.test.OutboxEvents;
import dev.idempotent.test.SagaWaits;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/**
 * Lets a test run without Redis and without a broker: keys are stored in an
 * {@link InMemoryIdempotencyStore}, unless there is a bean of type
 * {@code IdempotencyStore}, and {@link OutboxEvents} records the events. Operations under
 * {@code Guarantee.TRANSACTION} still commit with the database, if there is one, and
 * {@link SagaWaits} lets the time of the waits of sagas pass.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureIdempotency {

	/**
	 * Whether the relay delivers events.
	 * @return {@code false} to leave them in their tables
	 */
	@PropertyMapping("idempotent.outbox.relay.enabled")
	boolean relay() default false;

	/**
	 * Whether streams call their {@code @RedisStreamListener} methods.
	 * @return {@code false} to call them by the test only
	 */
	@PropertyMapping("idempotent.stream.enabled")
	boolean streams() default false;

}
