package dev.idempotent.autoconfigure.idempotency;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Lets an application have idempotent tools.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration({ IdempotencyAutoConfiguration.class, IdempotencyMethodAutoConfiguration.class,
		IdempotencyToolAutoConfiguration.class })
public @interface ImportTools {

	/**
	 * For a runner.
	 */
	Class<?> CLASS = IdempotencyToolAutoConfiguration.class;

}
