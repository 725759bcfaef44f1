package dev.idempotent.outbox.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.StoredEvent;
import org.jspecify.annotations.Nullable;

/**
 * An event as a row has it.
 *
 * @param event the event; without headers if they are unreadable
 * @param readable whether the headers could be read
 */
record EventRow(StoredEvent event, boolean readable) {

	/**
	 * What {@link #of} reads.
	 */
	static final String COLUMNS = "id, event_id, topic, event_key, type, content_type, payload, headers, attempts";

	/**
	 * Reads a row.
	 * @param begun how many attempts have begun since the row was as it is read
	 */
	static EventRow of(ResultSet columns, int begun) throws SQLException {
		Map<String, String> headers = HeaderText.read(columns.getString(8));
		StoredEvent event = new StoredEvent(UUID.fromString(columns.getString(2)), columns.getLong(1),
				columns.getString(3), columns.getString(4), columns.getString(5), columns.getBytes(7),
				withContentType(headers, columns.getString(6)), columns.getInt(9) + begun);
		return new EventRow(event, headers != null);
	}

	private static Map<String, String> withContentType(@Nullable Map<String, String> headers, String contentType) {
		Map<String, String> all = (headers != null) ? headers : new LinkedHashMap<>();
		all.put(StoredEvent.CONTENT_TYPE, contentType);
		return all;
	}

}
