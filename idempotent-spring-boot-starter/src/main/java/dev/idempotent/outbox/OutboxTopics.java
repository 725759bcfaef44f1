package dev.idempotent.outbox;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * The topics that events can go to.
 */
public final class OutboxTopics {

	private static final int MAX_LENGTH = 255;

	private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9-]+");

	private final Map<String, OutboxPublisher> publishers = new TreeMap<>();

	private final @Nullable String defaultTopic;

	/**
	 * Creates the topics.
	 * @param publishers all that there are
	 * @param defaultTopic where events go that name no topic, or {@code null}
	 * @throws IdempotentConfigurationException if two publishers serve the same topics,
	 * or none serves the default topic
	 */
	public OutboxTopics(Collection<? extends OutboxPublisher> publishers, @Nullable String defaultTopic) {
		for (OutboxPublisher publisher : publishers) {
			if (!PREFIX.matcher(publisher.prefix()).matches()) {
				throw new IdempotentConfigurationException(
						publisher.getClass().getName() + " serves the prefix '" + publisher.prefix() + "'.",
						"Give it a prefix of letters, digits and hyphens.", null);
			}
			if (this.publishers.put(publisher.prefix(), publisher) != null) {
				throw new IdempotentConfigurationException(
						"There are two outbox publishers for '" + publisher.prefix() + ":'.",
						"Keep one OutboxPublisher bean for each prefix.", null);
			}
		}
		this.defaultTopic = defaultTopic;
		if (defaultTopic != null) {
			checkDefault(defaultTopic);
		}
	}

	/**
	 * Finds where an event goes.
	 * @param stated the topic that it names, if any
	 * @return the topic
	 * @throws IllegalArgumentException if there is none, or nobody serves it
	 */
	public String resolve(@Nullable String stated) {
		String topic = (stated != null) ? stated : this.defaultTopic;
		if (topic == null) {
			throw new IllegalArgumentException(
					"The event names no topic: state one, or set idempotent.outbox.default-topic to one that begins with "
							+ prefixes());
		}
		if (!this.publishers.containsKey(Topics.publisher(topic)) || Topics.destination(topic).isBlank()
				|| topic.length() > MAX_LENGTH) {
			throw new IllegalArgumentException(
					"No publisher serves the topic '%s': a topic begins with %s, ".formatted(topic, prefixes())
							+ "names a destination and has at most " + MAX_LENGTH + " characters");
		}
		return topic;
	}

	/**
	 * All publishers.
	 * @return in alphabetical order of their prefixes
	 */
	public Collection<OutboxPublisher> publishers() {
		return this.publishers.values();
	}

	/**
	 * Finds the publisher of an event.
	 * @param event any
	 * @return {@code null} if this application has none for it
	 */
	public @Nullable OutboxPublisher publisherOf(SerializedEvent event) {
		return this.publishers.get(event.publisher());
	}

	private void checkDefault(String topic) {
		try {
			resolve(topic);
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotentConfigurationException("idempotent.outbox.default-topic: " + ex.getMessage() + ".",
					"Set it to a topic of one of these, or add the library that brings the publisher "
							+ "(spring-boot-starter-data-redis for redis-stream).",
					ex);
		}
	}

	private String prefixes() {
		return this.publishers.isEmpty() ? "(there is no publisher)"
				: this.publishers.keySet().stream().map((prefix) -> prefix + ":").collect(Collectors.joining(", "));
	}

}
