package dev.idempotent.idempotency.claim;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * The stored form of a response: the origin of its run, followed by the response itself.
 * Bytes that begin otherwise are a response without an origin.
 */
final class ResponseEnvelope {

	/**
	 * Begins neither a captured HTTP response nor JSON text.
	 */
	private static final byte FORMAT = (byte) 0xE1;

	private static final int HEADER = 2;

	/**
	 * Creates the stored form.
	 */
	StoredResponse close(ClaimRequest request, StoredResponse response) {
		byte[] origin = request.origin().toText().getBytes(StandardCharsets.US_ASCII);
		return StoredResponse.of(ByteBuffer.allocate(HEADER + origin.length + response.size())
			.put(FORMAT)
			.put((byte) origin.length)
			.put(origin)
			.put(response.bytes())
			.array());
	}

	/**
	 * Reads the stored form.
	 * @throws IdempotencyStoreException if it is damaged
	 */
	Content open(IdempotencyKey key, StoredResponse stored) {
		ByteBuffer bytes = ByteBuffer.wrap(stored.bytes());
		if (!bytes.hasRemaining() || bytes.get(0) != FORMAT) {
			return new Content(stored, null);
		}
		byte[] origin = origin(key, bytes.position(1));
		byte[] response = new byte[bytes.remaining()];
		bytes.get(response);
		return new Content(StoredResponse.of(response), RunOrigin.parse(new String(origin, StandardCharsets.US_ASCII)));
	}

	private static byte[] origin(IdempotencyKey key, ByteBuffer bytes) {
		int length = bytes.hasRemaining() ? Byte.toUnsignedInt(bytes.get()) : Integer.MAX_VALUE;
		if (length > bytes.remaining()) {
			throw new IdempotencyStoreException("The stored response of key " + key + " is truncated", null);
		}
		byte[] origin = new byte[length];
		bytes.get(origin);
		return origin;
	}

	/**
	 * What an envelope contains.
	 *
	 * @param response the response as the application wrote it
	 * @param origin the origin of its run, or {@code null} if it is unknown
	 */
	record Content(StoredResponse response, @Nullable RunOrigin origin) {
	}

}
