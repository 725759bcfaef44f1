package dev.idempotent.outbox.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * An event as read from a row.
 *
 * @param event the event, without its unreadable parts
 * @param unreadable the outcome of an event that cannot be delivered, or {@code null} if
 * it can
 */
record EventRow(SerializedEvent event, @Nullable Outcome unreadable) {

	private static final UUID NO_ID = new UUID(0, 0);

	/**
	 * Reads the columns of {@link EventColumn#READ}.
	 */
	static EventRow of(ResultSet row) throws SQLException {
		UUID id = id(text(row, EventColumn.EVENT_ID));
		byte[] payload = row.getBytes(EventColumn.PAYLOAD.column());
		Map<String, String> headers = HeaderText.read(text(row, EventColumn.HEADERS));
		SerializedEvent event = new SerializedEvent((id != null) ? id : NO_ID, row.getLong(EventColumn.ID.column()),
				text(row, EventColumn.TOPIC), text(row, EventColumn.EVENT_KEY), text(row, EventColumn.TYPE),
				(payload != null) ? payload : new byte[0],
				withContentType(headers, text(row, EventColumn.CONTENT_TYPE)), row.getInt("attempts"));
		return new EventRow(event, (id == null) ? new Outcome.Reject("Its event_id is not a UUID")
				: (headers == null) ? new Outcome.Reject("Its headers are not a JSON object of strings") : null);
	}

	/**
	 * Returns the event with the reason why it cannot be delivered.
	 */
	EventRow because(Outcome reason) {
		return new EventRow(this.event, reason);
	}

	private static String text(ResultSet row, EventColumn column) throws SQLException {
		return row.getString(column.column());
	}

	/**
	 * MySQL has no type for ids, so other programs can insert any text.
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
