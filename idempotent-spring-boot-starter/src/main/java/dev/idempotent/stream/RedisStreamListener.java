package dev.idempotent.stream;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls a method of a bean for each entry of a Redis Stream, at least once. The entry is
 * acknowledged when the method returns, hence after the commit of a
 * {@code @Transactional} method; after an exception it is delivered again.
 * <p>
 * The method may have a parameter of type {@code Map<String, String>} for the headers,
 * which are all fields except {@code payload}, and one other for the payload:
 * {@code byte[]}, {@code String}, or any type that the JSON payload is converted to. The
 * call goes through the bean's proxy.
 */
@Documented
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
public @interface RedisStreamListener {

	/**
	 * The key of the stream; may contain placeholders.
	 * @return never blank
	 */
	String stream();

	/**
	 * The consumer group, in which each entry is delivered to one consumer of all
	 * instances; may contain placeholders. A new group starts with the first entry of the
	 * stream.
	 * @return never blank
	 */
	String group();

	/**
	 * How many entries an instance processes at the same time. No value keeps their
	 * order: one that has failed is processed again later.
	 * @return at least 1
	 */
	int concurrency() default 1;

}
