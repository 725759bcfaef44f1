package dev.idempotent.autoconfigure.idempotency;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Lets an application have idempotent web handlers.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration({ IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class })
public @interface ImportHandlers {

	/**
	 * For a runner.
	 */
	Class<?> CLASS = IdempotencyWebAutoConfiguration.class;

}
