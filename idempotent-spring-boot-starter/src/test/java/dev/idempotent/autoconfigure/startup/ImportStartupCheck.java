package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Lets an application be checked before it starts.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration(StartupCheckAutoConfiguration.class)
public @interface ImportStartupCheck {

	/**
	 * For a runner.
	 */
	Class<?> CLASS = StartupCheckAutoConfiguration.class;

}
