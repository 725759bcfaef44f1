package dev.idempotent.autoconfigure.actuate;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Lets an application have its endpoints, meters and traces of events.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration({ OutboxOperationsAutoConfiguration.class, StreamOperationsAutoConfiguration.class })
public @interface ImportOperations {

	/**
	 * For a runner.
	 */
	Class<?> OUTBOX = OutboxOperationsAutoConfiguration.class;

}
