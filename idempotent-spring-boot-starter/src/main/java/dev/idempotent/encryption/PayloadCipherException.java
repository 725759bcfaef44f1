package dev.idempotent.encryption;

import org.jspecify.annotations.Nullable;

/**
 * Data could not be encrypted or decrypted. The message is stored and shown to operators:
 * it contains neither data nor keys.
 */
public class PayloadCipherException extends RuntimeException {

	private final Reason reason;

	/**
	 * Creates an exception.
	 * @param reason why
	 * @param message a sentence for operators, without data and keys
	 * @param cause the cause, or {@code null}
	 */
	public PayloadCipherException(Reason reason, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
	}

	/**
	 * Returns why.
	 * @return the reason, which decides whether another attempt makes sense
	 */
	public Reason reason() {
		return this.reason;
	}

	/**
	 * Why data could not be encrypted or decrypted.
	 */
	public enum Reason {

		/**
		 * The key is unknown or cannot be reached. Another attempt can succeed, such as
		 * on an instance that has the key.
		 */
		KEY_UNAVAILABLE,

		/**
		 * The data is damaged, was changed, or belongs to another record. No attempt can
		 * succeed.
		 */
		NOT_AUTHENTIC

	}

}
