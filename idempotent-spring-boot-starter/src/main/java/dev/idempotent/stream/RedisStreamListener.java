package dev.idempotent.stream;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls a method of a bean for each entry of a Redis Stream, at least once. The entry is
 * acknowledged when the method has returned, so after the commit of a method that is
 * {@code @Transactional}; after an exception it is brought again.
 * <p>
 * The method may have a parameter of type {@code Map<String, String>} for the headers,
 * which are all fields but {@code payload}, and one other for the payload:
 * {@code byte[]}, {@code String} (UTF-8), or what JSON is read as. The call goes through
 * the bean's proxy.
 */
@Documented
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
public @interface RedisStreamListener {

	/**
	 * The key of the stream; may hold placeholders.
	 * @return never blank
	 */
	String stream();

	/**
	 * The consumer group, which gets each entry once among all its instances; may hold
	 * placeholders. A new group begins with the first entry that the stream has.
	 * @return never blank
	 */
	String group();

	/**
	 * How many entries an instance works on at the same time. Entries are then not worked
	 * on in their order.
	 * @return at least 1
	 */
	int concurrency() default 1;

}
