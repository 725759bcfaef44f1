package dev.idempotent.outbox;

/**
 * Writes payloads.
 */
@FunctionalInterface
public interface PayloadWriter {

	/**
	 * Writes a payload as JSON.
	 * @param payload any but {@code byte[]}
	 * @return UTF-8
	 * @throws IllegalArgumentException if it cannot be written; the message tells its
	 * type and why, not what it holds
	 */
	byte[] write(Object payload);

}
