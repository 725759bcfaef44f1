package dev.idempotent.encryption;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * Builds the context that binds encrypted data to its record.
 */
public final class CipherContext {

	private CipherContext() {
	}

	/**
	 * Returns a context that differs for any other list of values.
	 * @param kind what the record is, such as {@code outbox-event}, so that the data of
	 * one kind of record is not accepted in another
	 * @param values what identifies the record, in a fixed order, each can be
	 * {@code null}
	 * @return each value in UTF-8 after its length in 4 bytes, which is -1 for
	 * {@code null}
	 */
	public static byte[] of(String kind, @Nullable String... values) {
		ByteArrayOutputStream context = new ByteArrayOutputStream();
		add(context, kind);
		for (String value : values) {
			add(context, value);
		}
		return context.toByteArray();
	}

	private static void add(ByteArrayOutputStream context, @Nullable String value) {
		byte[] bytes = (value != null) ? value.getBytes(StandardCharsets.UTF_8) : new byte[0];
		context.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt((value != null) ? bytes.length : -1).array());
		context.writeBytes(bytes);
	}

}
