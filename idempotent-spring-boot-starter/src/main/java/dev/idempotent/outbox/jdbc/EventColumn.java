package dev.idempotent.outbox.jdbc;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * The columns that an event has in each table, in one list for inserts, reads and moves.
 * The state of a delivery (such as attempts and lease) is not among them.
 */
enum EventColumn {

	/**
	 * The row, from the sequence of the table for pending events.
	 */
	ID,

	EVENT_ID(SerializedEvent::id),

	TOPIC(SerializedEvent::topic),

	EVENT_KEY(SerializedEvent::key),

	TYPE(SerializedEvent::type),

	CONTENT_TYPE((event) -> event.storedHeaders().get(SerializedEvent.CONTENT_TYPE)),

	PAYLOAD(SerializedEvent::payload),

	HEADERS(EventColumn::otherHeaders),

	/**
	 * By the clock of the database.
	 */
	CREATED_AT;

	/**
	 * The columns that an append writes. The others have defaults.
	 */
	static final List<EventColumn> APPENDED = Stream.of(values()).filter((column) -> column.value != null).toList();

	/**
	 * The columns that a move between tables copies, besides the row.
	 */
	static final String MOVED = list(Stream.of(values()).filter((column) -> column != ID));

	/**
	 * The columns that make a {@link SerializedEvent}.
	 */
	static final String READ = "id, " + readAfterId(Integer.MAX_VALUE);

	@SuppressWarnings("ImmutableEnumChecker")
	private final @Nullable Function<SerializedEvent, @Nullable Object> value;

	EventColumn() {
		this.value = null;
	}

	EventColumn(Function<SerializedEvent, @Nullable Object> value) {
		this.value = value;
	}

	/**
	 * The name of the column.
	 */
	String column() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * The value of an appended column.
	 */
	@Nullable Object of(SerializedEvent event) {
		return (this.value != null) ? this.value.apply(event) : null;
	}

	/**
	 * The columns of {@link #READ} after the row. The payload is omitted from an event
	 * with more attempts than the given number.
	 */
	static String readAfterId(int maxAttempts) {
		String columns = list(APPENDED.stream()) + ", attempts";
		return (maxAttempts == Integer.MAX_VALUE) ? columns : columns.replace("payload",
				"case when attempts > " + maxAttempts + " then null else payload end as payload");
	}

	static String list(Stream<EventColumn> columns) {
		return columns.map(EventColumn::column).collect(Collectors.joining(", "));
	}

	private static String otherHeaders(SerializedEvent event) {
		Map<String, String> headers = new LinkedHashMap<>(event.storedHeaders());
		headers.remove(SerializedEvent.CONTENT_TYPE);
		return HeaderText.write(headers);
	}

}
