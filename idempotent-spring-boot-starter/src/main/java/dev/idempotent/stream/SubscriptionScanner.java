package dev.idempotent.stream;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.advice.ListenerMethod;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.StringUtils;

/**
 * Finds the listener methods of all beans. Each is called through the fully initialized
 * bean, including its proxies.
 */
final class SubscriptionScanner {

	private final ConfigurableListableBeanFactory beans;

	private final @Nullable PayloadConverter converter;

	private final List<Subscription> found = new ArrayList<>();

	SubscriptionScanner(ConfigurableListableBeanFactory beans, @Nullable PayloadConverter converter) {
		this.beans = beans;
		this.converter = converter;
	}

	List<Subscription> scan() {
		ListenerMethod.findAll(this.beans, RedisStreamListener.class).forEach(this::add);
		return this.found;
	}

	private void add(ListenerMethod method) {
		AnnotatedMethod annotated = method.method();
		RedisStreamListener listener = Objects
			.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(annotated.method(), RedisStreamListener.class));
		String stream = resolve("stream", listener.stream(), annotated);
		String group = resolve("group", listener.group(), annotated);
		if (listener.concurrency() < 1) {
			throw annotated.invalid("has a concurrency of " + listener.concurrency(),
					"Set concurrency to 1 or more, or omit it.", null);
		}
		if (this.found.stream().anyMatch((other) -> other.stream().equals(stream) && other.group().equals(group))) {
			throw annotated.invalid(
					"is the second one for group %s of stream %s, and each would receive only some of the entries"
						.formatted(group, stream),
					"Use a separate group for each method, or set concurrency on one method for more threads.", null);
		}
		method.bind(this.beans);
		this.found.add(new Subscription(stream, group, listener.concurrency(), method, converter(method)));
	}

	private PayloadConverter converter(ListenerMethod method) {
		if (this.converter != null) {
			return this.converter;
		}
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

	private String resolve(String attribute, String value, AnnotatedMethod method) {
		String resolved;
		try {
			resolved = this.beans.resolveEmbeddedValue(value);
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

}
