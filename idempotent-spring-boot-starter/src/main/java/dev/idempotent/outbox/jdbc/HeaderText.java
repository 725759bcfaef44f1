package dev.idempotent.outbox.jdbc;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Converts headers to the text of a column: a JSON object of strings.
 */
final class HeaderText {

	private static final JsonMapper json = JsonMapper.shared();

	private static final TypeReference<LinkedHashMap<String, String>> STRINGS = new TypeReference<>() {
	};

	private HeaderText() {
	}

	static String write(Map<String, String> headers) {
		return json.writeValueAsString(headers);
	}

	/**
	 * Reads headers, which other programs may have written.
	 * @return {@code null} if they are unreadable
	 */
	static @Nullable Map<String, String> read(String text) {
		try {
			Map<String, String> headers = json.readValue(text, STRINGS);
			return (headers == null || headers.containsValue(null)) ? null : headers;
		}
		catch (JacksonException ex) {
			return null;
		}
	}

}
