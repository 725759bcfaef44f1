package dev.idempotent.autoconfigure.saga;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Lets an application have sagas.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration({ IdempotencyAutoConfiguration.class, SagaAutoConfiguration.class })
public @interface ImportSagas {

	/**
	 * For a runner.
	 */
	Class<?> CLASS = SagaAutoConfiguration.class;

}
