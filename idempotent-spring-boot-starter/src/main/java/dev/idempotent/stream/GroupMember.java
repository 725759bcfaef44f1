package dev.idempotent.stream;

import java.util.Map;

/**
 * A consumer of a group.
 *
 * @param name its name
 * @param pending the number of its pending entries
 * @param idleMillis the milliseconds since it last tried to read
 */
public record GroupMember(String name, long pending, long idleMillis) {

	static GroupMember of(Object element) {
		Map<String, Object> fields = GroupBacklog.fields(element);
		return new GroupMember(String.valueOf(fields.get("name")), GroupBacklog.number(fields, "pending"),
				GroupBacklog.number(fields, "idle"));
	}

}
