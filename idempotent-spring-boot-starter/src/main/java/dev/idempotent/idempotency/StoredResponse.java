package dev.idempotent.idempotency;

import java.util.Arrays;

/**
 * The stored outcome of a run: the bytes from which its response is replayed, or only the
 * fact that it is done. Stores treat the bytes as opaque.
 */
public final class StoredResponse {

	private static final StoredResponse NOT_KEPT = new StoredResponse(new byte[0]);

	private final byte[] bytes;

	private StoredResponse(byte[] bytes) {
		this.bytes = bytes;
	}

	/**
	 * Wraps an encoded response, or the bytes that {@link #bytes()} returned.
	 * @param bytes the encoded response; empty means that it is not kept
	 * @return the stored response
	 */
	public static StoredResponse of(byte[] bytes) {
		return (bytes.length == 0) ? NOT_KEPT : new StoredResponse(bytes.clone());
	}

	/**
	 * The marker of a run that is done but whose response could not be kept.
	 * @return the marker
	 */
	public static StoredResponse notKept() {
		return NOT_KEPT;
	}

	/**
	 * Returns whether there is a response to replay.
	 * @return {@code false} for {@link #notKept()}
	 */
	public boolean isKept() {
		return this.bytes.length > 0;
	}

	/**
	 * The encoded response.
	 * @return a copy of the bytes; empty when not kept
	 */
	public byte[] bytes() {
		return this.bytes.clone();
	}

	/**
	 * The size of the encoded response.
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
