package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.outbox.PayloadWriter;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes payloads with the mapper of the application, without type names.
 */
final class JacksonPayloadWriter implements PayloadWriter {

	private final JsonMapper json;

	/**
	 * Creates a writer.
	 * @param json the mapper
	 */
	JacksonPayloadWriter(JsonMapper json) {
		this.json = json.rebuild().deactivateDefaultTyping().build();
	}

	@Override
	public byte[] write(Object payload) {
		try {
			return this.json.writeValueAsBytes(payload);
		}
		catch (JacksonException ex) {
			// The message of the mapper may contain values.
			throw new IllegalArgumentException("A payload of type " + payload.getClass().getName()
					+ " cannot be written as JSON: append an object that can, such as a record", ex);
		}
	}

}
