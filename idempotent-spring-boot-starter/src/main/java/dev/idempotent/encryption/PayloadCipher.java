package dev.idempotent.encryption;

/**
 * Encrypts what is stored, such as responses and the payloads of events. A bean of this
 * type replaces the keys of {@code idempotent.encryption.keys}, such as for a key
 * management service. Implementations are thread-safe and never put data into messages.
 */
public interface PayloadCipher {

	/**
	 * Encrypts data. It is called once for each record that is stored, for events within
	 * the transaction that appends them.
	 * @param plain the data, of any length; not changed
	 * @param context identifies the record, and must be authenticated with the data; it
	 * is not stored with the result
	 * @return a new array that {@link #decrypt} understands, also after a change of the
	 * active key
	 * @throws PayloadCipherException if the data cannot be encrypted; nothing is stored
	 */
	byte[] encrypt(byte[] plain, byte[] context);

	/**
	 * Decrypts data.
	 * @param encrypted what {@link #encrypt} has returned, or anything else that was
	 * stored in its place; not changed
	 * @param context the context that was given to {@link #encrypt}
	 * @return a new array
	 * @throws PayloadCipherException if the key is unknown, or if data or context are not
	 * those that were encrypted
	 */
	byte[] decrypt(byte[] encrypted, byte[] context);

}
