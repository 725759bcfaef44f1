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
	 * Copies an encoded response out of the bytes that contain it.
	 * @param bytes the bytes, which end with the encoded response
	 * @param from the index of its first byte; the number of bytes means that it is not
	 * kept
	 * @return the stored response
	 */
	public static StoredResponse of(byte[] bytes, int from) {
		return (from == bytes.length) ? NOT_KEPT : new StoredResponse(Arrays.copyOfRange(bytes, from, bytes.length));
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
	 * Copies the encoded response.
	 * @param target where to copy it
	 * @param from the index of its first byte there
	 */
	public void copyTo(byte[] target, int from) {
		System.arraycopy(this.bytes, 0, target, from, this.bytes.length);
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
