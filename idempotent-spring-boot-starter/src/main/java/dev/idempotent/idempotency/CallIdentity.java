package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * What a call is, wherever its target is, without anything that it contains.
 *
 * @param target the name of the service
 * @param operation the digest of what is called there
 * @param version the format version of the fingerprint
 * @param request the digest of the fingerprint
 */
record CallIdentity(String target, String operation, String version, String request) {

	private static final int PARTS = 4;

	static CallIdentity of(String target, String operation, Fingerprint request) {
		return new CallIdentity(target, LengthPrefixedDigest.of(operation), Integer.toString(request.version()),
				request.digest());
	}

	/**
	 * Returns how this call differs from an earlier one.
	 * @param earlier the text of the earlier one
	 * @return the difference, or {@code null} if none is known
	 */
	@Nullable String differenceFrom(String earlier) {
		String[] parts = earlier.split(" ", -1);
		if (parts.length != PARTS) {
			return null;
		}
		if (!this.target.equals(parts[0])) {
			return "its target is " + this.target + " instead of " + parts[0];
		}
		if (!this.operation.equals(parts[1])) {
			return "it has another method or path";
		}
		return (this.version.equals(parts[2]) && !this.request.equals(parts[3])) ? "it has another query or body"
				: null;
	}

	/**
	 * Returns the text to store.
	 */
	String text() {
		return this.target + " " + this.operation + " " + this.version + " " + this.request;
	}

}
