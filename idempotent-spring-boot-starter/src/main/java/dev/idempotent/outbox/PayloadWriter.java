package dev.idempotent.outbox;

/**
 * Writes payloads as JSON. Jackson does so unless the application has a bean of this
 * type.
 */
@FunctionalInterface
public interface PayloadWriter {

	/**
	 * Writes a payload as JSON.
	 * @param payload any object but a {@code byte[]}, which is stored as it is
	 * @return UTF-8
	 * @throws IllegalArgumentException if it cannot be written; the message must not
	 * contain its values
	 */
	byte[] write(Object payload);

}
