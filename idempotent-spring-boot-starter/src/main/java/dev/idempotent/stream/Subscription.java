package dev.idempotent.stream;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.ListenerMethod;
import dev.idempotent.aop.ListenerMethod.UnreadablePayloadException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.StringUtils;

/**
 * A listener method and the consumer group that it belongs to.
 *
 * @param stream the key of the stream
 * @param group the consumer group
 * @param concurrency the number of workers
 * @param method called for each entry
 * @param converter converts payloads
 */
record Subscription(String stream, String group, int concurrency, ListenerMethod method, PayloadConverter converter) {

	/**
	 * Finds the listener methods of all beans. Each is called through the fully
	 * initialized bean, including its proxies.
	 * @param converter {@code null} to support only {@code byte[]} and {@code String}
	 */
	static List<Subscription> findAll(ConfigurableListableBeanFactory beans, @Nullable PayloadConverter converter) {
		List<Subscription> found = new ArrayList<>();
		for (ListenerMethod method : ListenerMethod.findAll(beans, RedisStreamListener.class)) {
			Subscription subscription = of(method, beans, converter);
			if (found.stream().anyMatch((other) -> other.consumerGroup().equals(subscription.consumerGroup()))) {
				throw method.method()
					.invalid(
							"is the second one for %s, and each would receive only some of the entries"
								.formatted(subscription),
							"Use a separate group for each method, or set concurrency on one method for more threads.",
							null);
			}
			method.bind(beans);
			found.add(subscription);
		}
		return found;
	}

	private static Subscription of(ListenerMethod method, ConfigurableListableBeanFactory beans,
			@Nullable PayloadConverter converter) {
		AnnotatedMethod annotated = method.method();
		RedisStreamListener listener = Objects
			.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(annotated.method(), RedisStreamListener.class));
		String stream = resolve("stream", listener.stream(), annotated, beans);
		String group = resolve("group", listener.group(), annotated, beans);
		if (listener.concurrency() < 1) {
			throw annotated.invalid("has a concurrency of " + listener.concurrency(),
					"Set concurrency to 1 or more, or omit it.", null);
		}
		return new Subscription(stream, group, listener.concurrency(), method,
				(converter != null) ? converter : withoutConverter(method));
	}

	private static PayloadConverter withoutConverter(ListenerMethod method) {
		Type payload = method.payloadType();
		if (payload != null && payload != byte[].class && payload != String.class) {
			throw method.method()
				.invalid("takes " + payload.getTypeName() + ", and Jackson is not available to read JSON",
						"Add spring-boot-starter-jackson, or declare the parameter as byte[] or String.", null);
		}
		return (bytes, type) -> {
			throw new IllegalStateException("No PayloadConverter is available");
		};
	}

	private static String resolve(String attribute, String value, AnnotatedMethod method,
			ConfigurableListableBeanFactory beans) {
		String resolved;
		try {
			resolved = beans.resolveEmbeddedValue(value);
		}
		catch (IllegalArgumentException ex) {
			throw method.invalid("has the %s '%s' with an unresolvable placeholder".formatted(attribute, value),
					"Set the property, or give the placeholder a default such as ${name:orders}.", ex);
		}
		if (!StringUtils.hasText(resolved)) {
			throw method.invalid("has a blank " + attribute, "Set it to the %s of the Redis Stream to listen to."
				.formatted(attribute.equals("stream") ? "key" : "consumer group"), null);
		}
		return resolved;
	}

	@Override
	public String toString() {
		return "group " + this.group + " of stream " + this.stream;
	}

	ConsumerGroup consumerGroup() {
		return new ConsumerGroup(this.stream, this.group);
	}

	String deadStream() {
		return this.stream + "." + this.group + ".dead";
	}

	/**
	 * Calls the method with an entry.
	 * @throws UnreadablePayloadException if the payload cannot be converted
	 * @throws Throwable what the method throws
	 */
	void call(StreamEntry entry) throws Throwable {
		this.method.invoke(this.method.arguments(entry.headers(), entry.payload(), this.converter::read));
	}

}
