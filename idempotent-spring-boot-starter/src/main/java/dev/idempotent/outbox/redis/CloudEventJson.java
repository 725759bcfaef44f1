package dev.idempotent.outbox.redis;

import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes an event in the JSON format of CloudEvents 1.0.2. A JSON payload is the value of
 * {@code data}, unchanged; any other is in {@code data_base64}.
 */
final class CloudEventJson {

	private static final JsonFactory JSON = JsonFactory.builder()
		// Names with colliding hashes break the shared symbol table for later documents.
		.disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
		.build();

	private static final String PREFIX = "ce_";

	private static final Pattern JSON_TYPE = Pattern.compile("[^/;\\s]+/([^/;\\s]+\\+)?json\\s*(;.*)?",
			Pattern.CASE_INSENSITIVE);

	private CloudEventJson() {
	}

	static byte[] write(SerializedEvent event) {
		Map<String, String> attributes = attributes(event.headers());
		String json = isJson(attributes.get("datacontenttype")) ? json(event.payload()) : null;
		StringWriter text = new StringWriter(event.payload().length + 512);
		try (JsonGenerator out = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
			out.writeStartObject();
			attributes.forEach(out::writeStringProperty);
			if (json != null) {
				out.writeName("data");
				out.writeRawValue(json);
			}
			else {
				out.writeBinaryProperty("data_base64", event.payload());
			}
			out.writeEndObject();
		}
		// Replaces what is not valid Unicode, as for the fields of a stream's entry.
		return text.toString().getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The attributes of CloudEvents, then all other headers as extensions. Their names
	 * consist of lower-case letters and digits. Rows of other programs can have any
	 * header.
	 */
	private static Map<String, String> attributes(Map<String, String> headers) {
		Map<String, String> attributes = new LinkedHashMap<>();
		headers.forEach((name, value) -> {
			if (name.startsWith(PREFIX)) {
				add(attributes, name.substring(PREFIX.length()), value);
			}
			else if (name.equals(SerializedEvent.CONTENT_TYPE)) {
				attributes.put("datacontenttype", value);
			}
		});
		headers.forEach((name, value) -> {
			if (!name.startsWith(PREFIX) && !name.equals(SerializedEvent.CONTENT_TYPE)) {
				add(attributes, name, value);
			}
		});
		return attributes;
	}

	private static void add(Map<String, String> attributes, String header, String value) {
		String name = header.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
		if (!name.isEmpty() && !name.equals("data")) {
			attributes.putIfAbsent(name, value);
		}
	}

	private static boolean isJson(@Nullable String contentType) {
		return contentType != null && JSON_TYPE.matcher(contentType.strip()).matches();
	}

	/**
	 * The payload as text if it is one valid JSON value in UTF-8, otherwise {@code null}.
	 */
	private static @Nullable String json(byte[] payload) {
		try {
			String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString();
			return (!text.startsWith("\uFEFF") && isOneValue(text)) ? text : null;
		}
		catch (CharacterCodingException | JacksonException ex) {
			return null;
		}
	}

	private static boolean isOneValue(String text) {
		try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), text)) {
			if (parser.nextToken() == null) {
				return false;
			}
			parser.skipChildren();
			return parser.nextToken() == null;
		}
	}

}
