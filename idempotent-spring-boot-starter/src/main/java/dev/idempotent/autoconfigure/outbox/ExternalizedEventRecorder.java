package dev.idempotent.autoconfigure.outbox;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.expression.EvaluationContext;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.RoutingTarget;
import org.springframework.modulith.events.support.BrokerRouting;
import org.springframework.util.ClassUtils;

/**
 * Appends the application events that Spring Modulith externalizes to the outbox, in the
 * transaction in which they are published.
 */
final class ExternalizedEventRecorder implements ApplicationListener<PayloadApplicationEvent<?>> {

	private static final String MESSAGE = "org.springframework.messaging.Message";

	/**
	 * The publishers of this library, with what they need. Without it, a target for one
	 * of them must not become a destination of another publisher.
	 */
	private static final Map<String, String> OWN = Map.of("kafka", "spring-boot-starter-kafka", "redis-stream",
			"spring-boot-starter-data-redis", "redis-channel", "spring-boot-starter-data-redis");

	private static final String PROPERTY = "idempotent.outbox.modulith.publisher";

	private final EventExternalizationConfiguration configuration;

	private final Outbox outbox;

	private final Set<String> prefixes;

	private final @Nullable String publisher;

	private final EvaluationContext context;

	/**
	 * Creates a listener.
	 * @param configuration selects, maps and routes the events
	 * @param outbox takes the events
	 * @param prefixes the prefixes of all publishers
	 * @param publisher the prefix of targets that do not begin with one, or {@code null}
	 * @param context evaluates the expressions of targets and keys
	 * @throws IdempotentConfigurationException if no publisher has that prefix
	 */
	ExternalizedEventRecorder(EventExternalizationConfiguration configuration, Outbox outbox, Set<String> prefixes,
			@Nullable String publisher, EvaluationContext context) {
		this.configuration = configuration;
		this.outbox = outbox;
		this.prefixes = prefixes;
		this.publisher = publisher;
		this.context = context;
		if (publisher != null && !prefixes.contains(publisher)) {
			throw new IdempotentConfigurationException(
					PROPERTY + " is '" + publisher + "', and no publisher has this prefix.",
					"Set it to one of " + prefixes + ", or add the library that provides the publisher.");
		}
	}

	@Override
	public void onApplicationEvent(PayloadApplicationEvent<?> published) {
		Object event = published.getPayload();
		if (this.configuration.supports(event)) {
			this.outbox.requireTransaction();
			this.outbox.append(toOutboxEvent(event));
		}
	}

	/**
	 * Another thread would not participate in the publisher's transaction.
	 */
	@Override
	public boolean supportsAsyncExecution() {
		return false;
	}

	private OutboxEvent toOutboxEvent(Object event) {
		RoutingTarget target = this.configuration.determineTarget(event);
		BrokerRouting routing = BrokerRouting.of(target, this.context);
		Object payload = this.configuration.map(event);
		requireNoMessage(event, payload);
		OutboxEvent appended = OutboxEvent.of(event.getClass().getName(), payload)
			.toTopic(topic(routing.getTarget(event)));
		// Without a key, a routing with an expression returns the target as key.
		String key = (target.getKey() != null) ? routing.getKey(event) : null;
		if (key != null) {
			appended = appended.withKey(key);
		}
		for (Map.Entry<String, Object> header : headers(event, payload).entrySet()) {
			if (header.getValue() != null) {
				appended = appended.withHeader(header.getKey(), text(header.getValue()));
			}
		}
		return appended;
	}

	/**
	 * Determines the topic for a target: the target itself, if it begins with the prefix
	 * of a publisher.
	 * @throws IllegalArgumentException if it names no publisher and there is no prefix
	 * for such targets
	 */
	private String topic(String target) {
		String prefix = target.substring(0, Math.max(0, target.indexOf(':')));
		if (this.prefixes.contains(prefix)) {
			return target;
		}
		if (OWN.containsKey(prefix)) {
			throw new IllegalArgumentException("The target '" + target + "' begins with " + prefix
					+ ":, and this application has no such publisher: add " + OWN.get(prefix));
		}
		if (this.publisher == null) {
			throw new IllegalArgumentException("The target '" + target + "' names no publisher: begin it with one of "
					+ this.prefixes + " and a colon, or set " + PROPERTY);
		}
		return this.publisher + ':' + target;
	}

	/**
	 * Functions for headers can be registered for the type of the event or for the type
	 * that it is mapped to.
	 */
	private Map<String, Object> headers(Object event, Object payload) {
		if (payload == event) {
			return this.configuration.getHeadersFor(event);
		}
		Map<String, Object> headers = new LinkedHashMap<>(this.configuration.getHeadersFor(event));
		headers.putAll(this.configuration.getHeadersFor(payload));
		return headers;
	}

	private static String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : value.toString();
	}

	/**
	 * Modulith's own externalization to Kafka unwraps messages; written as JSON, they
	 * would contain their headers.
	 */
	private static void requireNoMessage(Object event, Object payload) {
		if (payload != event && ClassUtils.getAllInterfacesForClassAsSet(payload.getClass())
			.stream()
			.anyMatch((type) -> type.getName().equals(MESSAGE))) {
			throw new IllegalArgumentException("An event of type " + event.getClass().getName()
					+ " is mapped to a Message: map it to the payload, and add the headers with headers(…) of the "
					+ "EventExternalizationConfiguration");
		}
	}

}
