package dev.idempotent.stream;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The state of a consumer group as Redis reports it.
 *
 * @param pending the number of entries that were delivered and are not acknowledged
 * @param lag the number of entries that were not delivered yet, or {@code null} if Redis
 * does not know it: before Redis 7, or after entries were deleted
 * @param consumers the number of consumers
 * @param lastDeliveredId the id of the newest entry that was delivered
 */
public record GroupBacklog(long pending, @Nullable Long lag, long consumers, String lastDeliveredId) {

	/**
	 * Finds a group in the reply to {@code XINFO GROUPS}.
	 * @return {@code null} if the group does not exist
	 */
	static @Nullable GroupBacklog of(List<?> groups, String group) {
		for (Object each : groups) {
			Map<String, Object> fields = fields(each);
			if (group.equals(fields.get("name"))) {
				return new GroupBacklog(number(fields, "pending"), (Long) fields.get("lag"),
						number(fields, "consumers"), String.valueOf(fields.get("last-delivered-id")));
			}
		}
		return null;
	}

	/**
	 * The fields of an element of a reply, with texts as strings.
	 */
	static Map<String, Object> fields(Object element) {
		List<?> names = (List<?>) element;
		Map<String, Object> fields = new HashMap<>();
		for (int i = 0; i + 1 < names.size(); i += 2) {
			fields.put(String.valueOf(value(names.get(i))), value(names.get(i + 1)));
		}
		return fields;
	}

	static long number(Map<String, Object> fields, String name) {
		return (fields.get(name) instanceof Long number) ? number : 0;
	}

	private static @Nullable Object value(@Nullable Object reply) {
		return (reply instanceof byte[] bytes) ? Entry.text(bytes) : reply;
	}

}
