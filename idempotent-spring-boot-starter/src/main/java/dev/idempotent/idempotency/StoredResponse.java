package dev.idempotent.idempotency;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Objects;

/**
 * The stored outcome of a run: the bytes from which its response is replayed, or only the
 * fact that it is done. Stores treat the bytes as opaque.
 */
public final class StoredResponse {

	private static final StoredResponse NOT_KEPT = new StoredResponse(new byte[0], 0);

	/**
	 * Never changed, so that responses can share them.
	 */
	private final byte[] bytes;

	private final int start;

	private StoredResponse(byte[] bytes, int start) {
		this.bytes = bytes;
		this.start = start;
	}

	/**
	 * Wraps an encoded response, or the bytes that {@link #bytes()} returned.
	 * @param bytes the encoded response; empty means that it is not kept
	 * @return the stored response
	 */
	public static StoredResponse of(byte[] bytes) {
		return (bytes.length == 0) ? NOT_KEPT : new StoredResponse(bytes.clone(), 0);
	}

	/**
	 * Copies an encoded response that was written to a stream.
	 * @param bytes the encoded response; empty means that it is not kept
	 * @return the stored response
	 */
	public static StoredResponse of(ByteArrayOutputStream bytes) {
		return (bytes.size() == 0) ? NOT_KEPT : new StoredResponse(bytes.toByteArray(), 0);
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
		return size() > 0;
	}

	/**
	 * The encoded response.
	 * @return a copy of the bytes; empty when not kept
	 */
	public byte[] bytes() {
		return Arrays.copyOfRange(this.bytes, this.start, this.bytes.length);
	}

	/**
	 * Copies the encoded response.
	 * @param target where to copy it
	 * @param index the index of its first byte there
	 */
	public void copyTo(byte[] target, int index) {
		System.arraycopy(this.bytes, this.start, target, index, size());
	}

	/**
	 * Reads the encoded response without a copy.
	 * @return a new stream
	 */
	public InputStream newInputStream() {
		return new ByteArrayInputStream(this.bytes, this.start, size());
	}

	/**
	 * Returns the rest of the encoded response without a copy.
	 * @param index the index of its first byte; the size means that it is not kept
	 * @return the stored response
	 * @throws IndexOutOfBoundsException if it is longer than the size
	 */
	public StoredResponse from(int index) {
		int rest = size() - Objects.checkFromToIndex(index, size(), size());
		return (rest == 0) ? NOT_KEPT : new StoredResponse(this.bytes, this.start + index);
	}

	/**
	 * The size of the encoded response.
	 * @return the number of bytes
	 */
	public int size() {
		return this.bytes.length - this.start;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof StoredResponse that
				&& Arrays.equals(this.bytes, this.start, this.bytes.length, that.bytes, that.start, that.bytes.length);
	}

	@Override
	public int hashCode() {
		return Arrays.hashCode(bytes());
	}

	@Override
	public String toString() {
		return isKept() ? size() + " bytes" : "not kept";
	}

}
