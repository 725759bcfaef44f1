package dev.idempotent.stream;

import java.util.List;
import java.util.Map;

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
		List<Member> consumers, String deadStream, @Nullable Long deadLength, @Nullable String problem) {

	/**
	 * A consumer of a group.
	 *
	 * @param name its name
	 * @param pending the number of its pending entries
	 * @param idleMillis the milliseconds since it last tried to read
	 */
	public record Member(String name, long pending, long idleMillis) {

		static Member of(Object element) {
			Map<String, Object> fields = GroupBacklog.fields(element);
			return new Member(String.valueOf(fields.get("name")), GroupBacklog.number(fields, "pending"),
					GroupBacklog.number(fields, "idle"));
		}

	}

}
