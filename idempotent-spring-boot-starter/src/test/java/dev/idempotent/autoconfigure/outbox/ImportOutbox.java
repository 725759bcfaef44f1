package dev.idempotent.autoconfigure.outbox;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Lets an application append events, also by annotated methods.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration({ OutboxAutoConfiguration.class, OutboxMethodAutoConfiguration.class })
public @interface ImportOutbox {

	/**
	 * For a runner.
	 */
	Class<?> CLASS = OutboxAutoConfiguration.class;

}
