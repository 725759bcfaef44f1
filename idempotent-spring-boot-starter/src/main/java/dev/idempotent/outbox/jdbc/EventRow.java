package dev.idempotent.outbox.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/**
 * An event as it is read from a row, and the columns that an event has in each table, in
 * one list for inserts, reads and moves. The state of a delivery is not among them.
 *
 * @param event the event, without its unreadable parts
 * @param unreadable the outcome of an event that cannot be delivered, or {@code null} if
 * it can
 */
public record EventRow(SerializedEvent event, @Nullable Outcome unreadable) {

	private static final String WITHOUT_CONTENT = "event_id, topic, event_key, type, content_type, ";

	static final String COLUMNS = WITHOUT_CONTENT + "payload, headers";

	/**
	 * As many parameters as {@link #COLUMNS}.
	 */
	static final String PARAMETERS = "?, ?, ?, ?, ?, ?, ?";

	private static final UUID NO_ID = new UUID(0, 0);

	private static final JsonMapper json = JsonMapper.shared();

	private static final ObjectReader strings = json.readerFor(new TypeReference<LinkedHashMap<String, String>>() {
	});

	/**
	 * Why the event cannot be delivered.
	 * @return a sentence for operators, or {@code null} if it can
	 */
	public @Nullable String problem() {
		return (this.unreadable instanceof Outcome.Reject reject) ? reject.reason()
				: (this.unreadable instanceof Outcome.Retry retry) ? retry.reason() : null;
	}

	/**
	 * Returns {@link #COLUMNS}, without the content of rows with more attempts than a
	 * limit.
	 */
	static String columnsUpTo(int attempts) {
		String within = "case when attempts <= " + attempts + " then ";
		return WITHOUT_CONTENT + within + "payload end as payload, " + within + "headers else '{}' end as headers";
	}

	/**
	 * Adds the values of {@link #COLUMNS}.
	 */
	static void addTo(List<@Nullable Object> parameters, SerializedEvent event, Database database) {
		Map<String, String> headers = new LinkedHashMap<>(event.storedHeaders());
		String contentType = headers.remove(SerializedEvent.CONTENT_TYPE);
		parameters.add(database.parameter(event.id()));
		parameters.add(event.topic());
		parameters.add(event.key());
		parameters.add(event.type());
		parameters.add(contentType);
		parameters.add(event.payload());
		parameters.add(json.writeValueAsString(headers));
	}

	/**
	 * Reads {@link #COLUMNS}, the id and the attempts.
	 */
	static EventRow of(ResultSet row) throws SQLException {
		UUID id = idOf(row);
		byte[] payload = row.getBytes("payload");
		Map<String, String> headers = headers(row.getString("headers"));
		Map<String, String> all = (headers != null) ? headers : new LinkedHashMap<>();
		all.put(SerializedEvent.CONTENT_TYPE, row.getString("content_type"));
		SerializedEvent event = new SerializedEvent(id, row.getLong("id"), row.getString("topic"),
				row.getString("event_key"), row.getString("type"), (payload != null) ? payload : new byte[0], all,
				row.getInt("attempts"));
		return new EventRow(event, id.equals(NO_ID) ? new Outcome.Reject("Its event_id is not a UUID")
				: (headers == null) ? new Outcome.Reject("Its headers are not a JSON object of strings") : null);
	}

	/**
	 * Reads the id of an event. MySQL has no type for ids, so other programs can insert
	 * any text.
	 * @return zeros if the text is not a UUID
	 */
	static UUID idOf(ResultSet row) throws SQLException {
		// PostgreSQL's driver would prepare to read times before it reads this as text.
		Object id = row.getObject("event_id");
		try {
			return (id instanceof UUID known) ? known : UUID.fromString(String.valueOf(id));
		}
		catch (IllegalArgumentException ex) {
			return NO_ID;
		}
	}

	/**
	 * Reads headers, which other programs may have written.
	 * @return {@code null} if they are unreadable
	 */
	private static @Nullable Map<String, String> headers(String text) {
		try {
			Map<String, String> headers = strings.readValue(text);
			return (headers == null || headers.containsValue(null)) ? null : headers;
		}
		catch (JacksonException ex) {
			return null;
		}
	}

}
