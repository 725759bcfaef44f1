package dev.idempotent.idempotency;

import java.util.Arrays;

/**
 * What is kept of a finished run: the bytes from which its answer is replayed, or only
 * the fact that it has finished. Stores treat the bytes as opaque.
 */
public final class StoredResponse {

	private static final StoredResponse NOT_KEPT = new StoredResponse(new byte[0]);

	private final byte[] bytes;

	private StoredResponse(byte[] bytes) {
		this.bytes = bytes;
	}

	/**
	 * Wraps an encoded answer, or what {@link #bytes()} gave.
	 * @param bytes the encoded answer; empty means that it is not kept
	 * @return the stored response
	 */
	public static StoredResponse of(byte[] bytes) {
		return (bytes.length == 0) ? NOT_KEPT : new StoredResponse(bytes.clone());
	}

	/**
	 * The mark of a run that has finished with an answer that could not be kept.
	 * @return the mark
	 */
	public static StoredResponse notKept() {
		return NOT_KEPT;
	}

	/**
	 * Tells whether there is an answer to replay.
	 * @return {@code false} for {@link #notKept()}
	 */
	public boolean isKept() {
		return this.bytes.length > 0;
	}

	/**
	 * The encoded answer.
	 * @return a copy of the bytes; empty when not kept
	 */
	public byte[] bytes() {
		return this.bytes.clone();
	}

	/**
	 * The size of the encoded answer.
	 * @return the number of bytes
	 */
	public int size() {
		return this.bytes.length;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof StoredResponse that && Arrays.equals(this.bytes, that.bytes);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(this.bytes);
	}

	@Override
	public String toString() {
		return isKept() ? this.bytes.length + " bytes" : "not kept";
	}

}
