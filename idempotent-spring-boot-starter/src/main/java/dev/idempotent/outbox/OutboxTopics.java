package dev.idempotent.outbox;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * The publishers of an application and the topics that they serve.
 */
public final class OutboxTopics {

	/**
	 * The topic of the {@link OutboxHandler} methods of the application. Each handler has
	 * a topic of its own, {@code handlers:<name>}.
	 */
	public static final String HANDLERS = "handlers";

	private static final int MAX_LENGTH = 255;

	private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9-]+");

	private final Map<String, OutboxPublisher> publishers = new TreeMap<>();

	private final @Nullable String defaultTopic;

	private final Function<String, List<String>> handlers;

	/**
	 * Creates the topics.
	 * @param publishers all publishers
	 * @param defaultTopic the topic of events that do not name one, or {@code null}
	 * @param handlers the names of the handlers of a type of events
	 * @throws IdempotentConfigurationException if two publishers have the same prefix, or
	 * no publisher serves the default topic
	 */
	public OutboxTopics(Collection<? extends OutboxPublisher> publishers, @Nullable String defaultTopic,
			Function<String, List<String>> handlers) {
		this.handlers = handlers;
		for (OutboxPublisher publisher : publishers) {
			if (!PREFIX.matcher(publisher.prefix()).matches()) {
				throw new IdempotentConfigurationException(
						publisher.getClass().getName() + " has the prefix '" + publisher.prefix() + "'.",
						"Give it a prefix of letters, digits and hyphens.");
			}
			if (publisher.prefix().equals(HANDLERS)) {
				throw new IdempotentConfigurationException(
						publisher.getClass().getName() + " has the prefix 'handlers', which belongs to @OutboxHandler.",
						"Give it another prefix.");
			}
			OutboxPublisher other = this.publishers.put(publisher.prefix(), publisher);
			if (other != null) {
				throw new IdempotentConfigurationException(
						"There are two outbox publishers for '" + publisher.prefix() + ":': "
								+ other.getClass().getName() + " and " + publisher.getClass().getName() + ".",
						"Keep one OutboxPublisher bean for each prefix.");
			}
		}
		this.defaultTopic = defaultTopic;
		if (defaultTopic != null) {
			checkDefault(defaultTopic);
		}
	}

	/**
	 * Determines the topic of an event.
	 * @param stated the topic that the event names, or {@code null} for the default topic
	 * @return the topic
	 * @throws IllegalArgumentException if there is no topic, or no publisher serves it
	 */
	public String resolve(@Nullable String stated) {
		String topic = (stated != null) ? stated : this.defaultTopic;
		if (topic == null) {
			throw new IllegalArgumentException(this.publishers.isEmpty()
					? "The event has no topic, and there is no publisher that could deliver it"
					: "The event has no topic: set one, or set idempotent.outbox.default-topic to a topic that begins with "
							+ prefixes());
		}
		if (topic.equals(HANDLERS)) {
			return topic;
		}
		if (topic.startsWith(HANDLERS + ":")) {
			throw new IllegalArgumentException(
					"The topic '" + topic + "' belongs to a single handler: append to the topic '" + HANDLERS
							+ "', the topic of all @OutboxHandler methods");
		}
		if (!this.publishers.containsKey(SerializedEvent.publisherOf(topic))
				|| SerializedEvent.destinationOf(topic).isBlank() || topic.length() > MAX_LENGTH) {
			throw new IllegalArgumentException(
					"No publisher serves the topic '%s': a topic begins with %s, ".formatted(topic, prefixes())
							+ "names a destination and has at most " + MAX_LENGTH + " characters");
		}
		return topic;
	}

	/**
	 * Determines the topics of the rows of an event.
	 * @param stated the topic that the event names, or {@code null} for the default topic
	 * @param type the type of the event
	 * @return one topic, or the topic of each handler
	 * @throws IllegalArgumentException if there is no topic, or nothing serves it
	 */
	public List<String> resolve(@Nullable String stated, String type) {
		String topic = resolve(stated);
		if (!topic.equals(HANDLERS)) {
			return List.of(topic);
		}
		List<String> names = this.handlers.apply(type);
		if (names.isEmpty()) {
			throw new IllegalArgumentException(
					"No @OutboxHandler method of this application handles events of the type '" + type + "'");
		}
		return names.stream().map((name) -> HANDLERS + ":" + name).toList();
	}

	/**
	 * Returns whether a publisher or the handlers serve a topic.
	 * @param topic a topic of a row
	 * @return whether its prefix is known
	 */
	public boolean serves(String topic) {
		String prefix = SerializedEvent.publisherOf(topic);
		return prefix.equals(HANDLERS) || this.publishers.containsKey(prefix);
	}

	/**
	 * The prefix of the publisher of a topic.
	 * @param topic a topic
	 * @return the part before the first colon
	 */
	public static String publisher(String topic) {
		return SerializedEvent.publisherOf(topic);
	}

	/**
	 * All publishers.
	 * @return in the alphabetical order of their prefixes
	 */
	public Collection<OutboxPublisher> publishers() {
		return this.publishers.values();
	}

	private void checkDefault(String topic) {
		try {
			resolve(topic);
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotentConfigurationException("idempotent.outbox.default-topic: " + ex.getMessage() + ".",
					"Set it to a topic of one of these, or add the library that provides the publisher "
							+ "(spring-boot-starter-data-redis for redis-stream, spring-boot-starter-kafka for kafka).",
					ex);
		}
	}

	/**
	 * Describes the publishers for messages.
	 */
	@Override
	public String toString() {
		return (this.publishers.isEmpty() ? "no publisher" : String.join(", ", this.publishers.keySet()))
				+ ((this.defaultTopic != null) ? " (default topic " + this.defaultTopic + ")" : "");
	}

	private String prefixes() {
		return this.publishers.isEmpty() ? "(there is no publisher)"
				: this.publishers.keySet().stream().map((prefix) -> prefix + ":").collect(Collectors.joining(", "));
	}

}
