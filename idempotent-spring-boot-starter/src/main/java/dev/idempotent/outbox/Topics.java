package dev.idempotent.outbox;

/**
 * Splits a topic into its publisher and its destination.
 */
final class Topics {

	private static final char SEPARATOR = ':';

	private Topics() {
	}

	static String publisher(String topic) {
		return topic.substring(0, Math.max(0, topic.indexOf(SEPARATOR)));
	}

	static String destination(String topic) {
		return topic.substring(topic.indexOf(SEPARATOR) + 1);
	}

}
