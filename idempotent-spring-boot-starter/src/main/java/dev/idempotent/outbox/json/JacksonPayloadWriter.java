package dev.idempotent.outbox.json;

import dev.idempotent.outbox.PayloadWriter;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes payloads as the application's mapper does, without the names of types.
 */
public final class JacksonPayloadWriter implements PayloadWriter {

	private final JsonMapper json;

	/**
	 * Creates a writer.
	 * @param json how to write
	 */
	public JacksonPayloadWriter(JsonMapper json) {
		this.json = json.rebuild().deactivateDefaultTyping().build();
	}

	@Override
	public byte[] write(Object payload) {
		try {
			return this.json.writeValueAsBytes(payload);
		}
		catch (JacksonException ex) {
			// What the mapper says may hold values.
			throw new IllegalArgumentException("A payload of type " + payload.getClass().getName()
					+ " cannot be written as JSON: append what can, such as a record of what the event is to tell", ex);
		}
	}

}
