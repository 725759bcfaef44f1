package dev.idempotent.stream;

/**
 * A consumer group of a stream that this process listens to.
 *
 * @param stream the key of the stream
 * @param group the name of the group
 */
public record ConsumerGroup(String stream, String group) {
}
