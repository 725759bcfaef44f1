package dev.idempotent.outbox.modulith;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

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
public final class ExternalizedEventRecorder implements ApplicationListener<PayloadApplicationEvent<?>> {

	private static final String MESSAGE = "org.springframework.messaging.Message";

	private final EventExternalizationConfiguration configuration;

	private final Outbox outbox;

	private final RoutedTopics topics;

	private final EvaluationContext context;

	/**
	 * Creates a listener.
	 * @param configuration selects, maps and routes the events
	 * @param outbox takes the events
	 * @param prefixes the prefixes of all publishers
	 * @param publisher the prefix of targets that do not begin with one, or {@code null}
	 * @param context evaluates the expressions of targets and keys
	 * @throws dev.idempotent.IdempotentConfigurationException if no publisher has that
	 * prefix
	 */
	public ExternalizedEventRecorder(EventExternalizationConfiguration configuration, Outbox outbox,
			Set<String> prefixes, @Nullable String publisher, EvaluationContext context) {
		this.configuration = configuration;
		this.outbox = outbox;
		this.topics = new RoutedTopics(prefixes, publisher);
		this.context = context;
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
			.toTopic(this.topics.of(routing.getTarget(event)));
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
