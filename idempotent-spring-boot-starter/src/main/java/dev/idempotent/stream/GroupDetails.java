package dev.idempotent.stream;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A consumer group with its stream and its dead-letter stream. Numbers are {@code null}
 * where Redis has not answered or has rejected the command.
 *
 * @param group the group
 * @param concurrency how many entries this process handles at the same time
 * @param length the number of entries in the stream, processed ones included
 * @param backlog {@code null} if the group does not exist
 * @param consumers those with the most pending entries, up to 100
 * @param deadStream the key of the dead-letter stream
 * @param deadLength the number of entries in the dead-letter stream
 * @param problem why numbers are missing, or {@code null}
 */
public record GroupDetails(ConsumerGroup group, int concurrency, @Nullable Long length, @Nullable GroupBacklog backlog,
		List<GroupMember> consumers, String deadStream, @Nullable Long deadLength, @Nullable String problem) {
}
