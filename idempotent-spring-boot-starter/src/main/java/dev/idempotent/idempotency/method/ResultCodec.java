package dev.idempotent.idempotency.method;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes results as JSON and reads them as the declared type. The stored form names no
 * type.
 */
final class ResultCodec {

	private static final byte FORMAT = 1;

	private final JsonMapper json;

	private final JavaType type;

	private final String described;

	/**
	 * Creates a codec.
	 * @param json writes and reads the values
	 * @param type the declared type; {@code void} takes no value
	 * @param described whose result it is, for messages
	 */
	ResultCodec(JsonMapper json, JavaType type, String described) {
		this.json = json;
		this.type = type;
		this.described = described;
	}

	/**
	 * Encodes a result.
	 * @throws IdempotencyResultException if it cannot be
	 */
	StoredResponse encode(@Nullable Object result) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		bytes.write(FORMAT);
		try {
			if (isVoid()) {
				this.json.writeValue(bytes, null);
			}
			else {
				this.json.writerFor(this.type).writeValue(bytes, result);
			}
		}
		catch (JacksonException ex) {
			throw new IdempotencyResultException("The result of " + this.described + " cannot be written as JSON of "
					+ this.type.toCanonical() + ". Return a value that can, or nothing", ex);
		}
		return StoredResponse.of(bytes.toByteArray());
	}

	/**
	 * Decodes a stored result.
	 * @throws IdempotencyResultException if it was not kept or does not fit the type
	 */
	@Nullable Object decode(StoredResponse stored) {
		byte[] bytes = stored.bytes();
		if (bytes.length == 0) {
			throw new IdempotencyResultException("The work of " + this.described
					+ " was done under this key, and its result could not be kept. It is not done again", null);
		}
		if (isVoid()) {
			return null;
		}
		if (bytes[0] != FORMAT) {
			throw unfit(null);
		}
		try {
			return this.json.readValue(Arrays.copyOfRange(bytes, 1, bytes.length), this.type);
		}
		catch (JacksonException ex) {
			throw unfit(ex);
		}
	}

	private IdempotencyResultException unfit(@Nullable Exception cause) {
		return new IdempotencyResultException("The work of " + this.described
				+ " was done under this key, and its stored result is no " + this.type.toCanonical()
				+ ". It is not done again. Let the type read what was stored before it changed, or change the "
				+ "operation's name together with its result", cause);
	}

	private boolean isVoid() {
		return this.type.hasRawClass(void.class) || this.type.hasRawClass(Void.class);
	}

}
