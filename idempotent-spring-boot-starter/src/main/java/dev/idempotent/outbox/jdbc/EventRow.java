package dev.idempotent.outbox.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * An event as a row has it.
 *
 * @param event the event; without what is unreadable
 * @param unreadable why it cannot be delivered as it is, or {@code null} if it can
 */
record EventRow(SerializedEvent event, @Nullable String unreadable) {

	/**
	 * What {@link #of} reads.
	 */
	static final String COLUMNS = "id, event_id, topic, event_key, type, content_type, payload, headers, attempts";

	private static final UUID NO_ID = new UUID(0, 0);

	/**
	 * Reads a row.
	 */
	static EventRow of(ResultSet columns) throws SQLException {
		UUID id = id(columns.getString(2));
		byte[] payload = columns.getBytes(7);
		Map<String, String> headers = HeaderText.read(columns.getString(8));
		SerializedEvent event = new SerializedEvent((id != null) ? id : NO_ID, columns.getLong(1), columns.getString(3),
				columns.getString(4), columns.getString(5), (payload != null) ? payload : new byte[0],
				withContentType(headers, columns.getString(6)), columns.getInt(9));
		return new EventRow(event, (id == null) ? "Its event_id is no UUID"
				: (headers == null) ? "Its headers are no JSON object of strings" : null);
	}

	/**
	 * MySQL has no type for ids, so that another program can write anything.
	 */
	private static @Nullable UUID id(String text) {
		try {
			return UUID.fromString(text);
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private static Map<String, String> withContentType(@Nullable Map<String, String> headers, String contentType) {
		Map<String, String> all = (headers != null) ? headers : new LinkedHashMap<>();
		all.put(SerializedEvent.CONTENT_TYPE, contentType);
		return all;
	}

}
