package dev.idempotent.autoconfigure.stream;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Lets an application listen to streams.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration(RedisStreamAutoConfiguration.class)
public @interface ImportStreams {

	/**
	 * For a runner.
	 */
	Class<?> CLASS = RedisStreamAutoConfiguration.class;

}
