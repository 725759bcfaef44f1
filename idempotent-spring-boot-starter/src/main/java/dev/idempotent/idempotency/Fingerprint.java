package dev.idempotent.idempotency;

import java.util.List;

/**
 * A digest of the content of a request: equal for retries, different for another request
 * under the same key. Fingerprints of different format versions cannot be compared.
 *
 * @param version the format version of the digest's input
 * @param digest 64 lower-case hexadecimal digits
 */
public record Fingerprint(int version, String digest) {

	/**
	 * The format version that this release writes.
	 */
	public static final int CURRENT_VERSION = 6;

	/**
	 * Digests the parts of a request in the current version.
	 * @param parts the parts in order; their lengths are digested, too
	 * @return the fingerprint
	 */
	public static Fingerprint of(List<byte[]> parts) {
		return new Fingerprint(CURRENT_VERSION, LengthPrefixedDigest.of(parts));
	}

	/**
	 * Returns whether this fingerprint proves that the stored one belongs to another
	 * request.
	 * @param other the stored fingerprint
	 * @return {@code false} if it is equal or has another format version
	 */
	public boolean contradicts(Fingerprint other) {
		return this.version == other.version && !this.digest.equals(other.digest);
	}

}
