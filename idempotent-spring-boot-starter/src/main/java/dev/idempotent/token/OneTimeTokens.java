package dev.idempotent.token;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.Principal;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import javax.crypto.Mac;

import org.jspecify.annotations.Nullable;

/**
 * Issues one-time tokens: idempotency keys that the server signs for one purpose, which
 * is the name of the {@code @Idempotent} handler, and for one caller. Issuing and
 * verifying use no store. Thread-safe.
 */
public final class OneTimeTokens {

	/**
	 * How far the clocks of two instances may differ.
	 */
	private static final Duration SKEW = Duration.ofMinutes(1);

	/**
	 * How much longer than a token the outcome of its use is kept.
	 */
	private static final Duration MARGIN = Duration.ofMinutes(5);

	private final SecureRandom random = new SecureRandom();

	private final byte[] namespace;

	private final TokenSecret signing;

	private final Map<String, TokenSecret> secrets = new LinkedHashMap<>();

	private final Duration validity;

	private final Function<Principal, @Nullable String> callers;

	private final InstantSource clock;

	/**
	 * Creates an issuer by the clock of this machine.
	 * @param namespace the application
	 * @param secrets the secrets: the first signs, all verify
	 * @param validity how long a token can be used, from 1 second to 365 days
	 * @param callers identifies a principal, such as by issuer and name; returns
	 * {@code null} for one that stands for any unknown caller
	 * @throws IllegalArgumentException if there is no secret, two have the same id, or
	 * the validity is out of range
	 */
	public OneTimeTokens(String namespace, List<TokenSecret> secrets, Duration validity,
			Function<Principal, @Nullable String> callers) {
		this(namespace, secrets, validity, callers, InstantSource.system());
	}

	OneTimeTokens(String namespace, List<TokenSecret> secrets, Duration validity,
			Function<Principal, @Nullable String> callers, InstantSource clock) {
		if (secrets.isEmpty()) {
			throw new IllegalArgumentException("There is no secret");
		}
		secrets.forEach((secret) -> {
			if (this.secrets.put(secret.id(), secret) != null) {
				throw new IllegalArgumentException("Two secrets have the id " + secret.id());
			}
		});
		if (validity.compareTo(Duration.ofSeconds(1)) < 0 || validity.compareTo(Duration.ofDays(365)) > 0) {
			throw new IllegalArgumentException("The validity must be between 1 second and 365 days");
		}
		this.namespace = utf8(namespace);
		this.signing = secrets.get(0);
		this.validity = validity;
		this.callers = callers;
		this.clock = clock;
	}

	/**
	 * Issues a token: each call returns another one.
	 * @param purpose the name of the operation
	 * @param principal the only caller who may use it, or {@code null} for a token that
	 * any caller may use
	 * @return visible ASCII characters that need no escaping in HTML
	 * @throws IllegalArgumentException if the purpose is blank or the principal has no
	 * name, or half of a character in it
	 */
	public String issue(String purpose, @Nullable Principal principal) {
		if (purpose.isBlank()) {
			throw new IllegalArgumentException("A token needs a purpose: the name of the operation that it is for");
		}
		if (principal != null && !hasName(principal)) {
			throw new IllegalArgumentException(
					"The principal has no name that a token can be bound to. Pass null for a token that any caller may use");
		}
		String caller = (principal != null) ? this.callers.apply(principal) : null;
		if (caller != null && !isComplete(caller)) {
			throw new IllegalArgumentException(
					"The name of the principal contains half of a character (an unpaired surrogate)");
		}
		byte[] serial = new byte[Format.SERIAL_BYTES];
		this.random.nextBytes(serial);
		Format token = new Format(caller != null, this.signing.id(), this.clock.instant().plus(this.validity), serial,
				new byte[0]);
		return token.write(sign(this.signing, token, purpose, caller));
	}

	/**
	 * Verifies a token. Uses no store, so a token that was used is as valid as before.
	 * @param text the token
	 * @param purpose the name of the operation
	 * @param principal the caller, or {@code null}
	 * @return the result
	 */
	public TokenCheck verify(String text, String purpose, @Nullable Principal principal) {
		Format token = Format.parse(text);
		if (token == null) {
			return TokenCheck.without(TokenCheck.Outcome.MALFORMED);
		}
		TokenSecret secret = this.secrets.get(token.secretId());
		String caller = (token.bound() && principal != null && hasName(principal)) ? this.callers.apply(principal)
				: null;
		if (secret == null || token.bound() != (caller != null) || (caller != null && !isComplete(caller))
				|| !MessageDigest.isEqual(token.signature(), sign(secret, token, purpose, caller))) {
			return TokenCheck.without(TokenCheck.Outcome.REFUSED);
		}
		Instant now = this.clock.instant();
		boolean expired = now.isAfter(token.expiry().plus(SKEW));
		return new TokenCheck(expired ? TokenCheck.Outcome.EXPIRED : TokenCheck.Outcome.VALID, token.serialText(),
				retention(Duration.between(now, token.expiry())));
	}

	/**
	 * Reads the serial of a token without verifying it.
	 * @param text the token
	 * @return the random part, or {@code null} if the text is not a token
	 */
	public static @Nullable String serialOf(String text) {
		Format token = Format.parse(text);
		return (token != null) ? token.serialText() : null;
	}

	/**
	 * The validity may have been longer when the token was issued.
	 */
	private Duration retention(Duration remaining) {
		return ((remaining.compareTo(this.validity) > 0) ? remaining : this.validity).plus(MARGIN);
	}

	private byte[] sign(TokenSecret secret, Format token, String purpose, @Nullable String caller) {
		Mac mac = secret.mac();
		mac.update(token.content());
		for (byte[] part : List.of(this.namespace, utf8(purpose), utf8((caller != null) ? caller : ""))) {
			mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, part.length));
			mac.update(part);
		}
		return mac.doFinal();
	}

	private static boolean hasName(Principal principal) {
		String name = principal.getName();
		return name != null && !name.isBlank();
	}

	/**
	 * Returns whether no part of a name is replaced before it is signed.
	 */
	private static boolean isComplete(String name) {
		return StandardCharsets.UTF_8.newEncoder().canEncode(name);
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The content of a one-time token: base64url without padding of version, bound,
	 * length of the secret's id (1 byte each), id (ASCII), expiry in seconds since 1970
	 * (8 bytes), serial (16 random bytes) and signature (32 bytes).
	 *
	 * @param bound whether only one caller may use it
	 * @param secretId the id of the secret that has signed it
	 * @param expiry when it expires, to the second
	 * @param serial the random part
	 * @param signature the signature; empty in a token that is to be signed
	 */
	@SuppressWarnings("ArrayRecordComponent")
	private record Format(boolean bound, String secretId, Instant expiry, byte[] serial, byte[] signature) {

		static final int SERIAL_BYTES = 16;

		private static final byte VERSION = 1;

		private static final int SIGNATURE_BYTES = 32;

		private static final int FIXED_BYTES = 3 + Long.BYTES + SERIAL_BYTES + SIGNATURE_BYTES;

		private static final Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();

		/**
		 * Reads a token, whose signature is not verified.
		 * @return {@code null} if the text is not a token, or not in its canonical form
		 */
		static @Nullable Format parse(String text) {
			byte[] bytes = decode(text);
			if (bytes == null || bytes.length < FIXED_BYTES || bytes[0] != VERSION || (bytes[1] & ~1) != 0
					|| bytes.length != FIXED_BYTES + bytes[2]) {
				return null;
			}
			ByteBuffer buffer = ByteBuffer.wrap(bytes).position(3);
			String secretId = new String(take(buffer, bytes[2]), StandardCharsets.ISO_8859_1);
			long seconds = buffer.getLong();
			if (!TokenSecret.isId(secretId) || seconds < 0 || seconds > Instant.MAX.getEpochSecond()) {
				return null;
			}
			return new Format(bytes[1] == 1, secretId, Instant.ofEpochSecond(seconds), take(buffer, SERIAL_BYTES),
					take(buffer, SIGNATURE_BYTES));
		}

		/**
		 * Returns what the signature protects, besides what only the server knows.
		 */
		byte[] content() {
			byte[] id = this.secretId.getBytes(StandardCharsets.ISO_8859_1);
			return ByteBuffer.allocate(FIXED_BYTES - SIGNATURE_BYTES + id.length)
				.put(VERSION)
				.put((byte) (this.bound ? 1 : 0))
				.put((byte) id.length)
				.put(id)
				.putLong(this.expiry.getEpochSecond())
				.put(this.serial)
				.array();
		}

		String write(byte[] signed) {
			byte[] content = content();
			byte[] bytes = Arrays.copyOf(content, content.length + signed.length);
			System.arraycopy(signed, 0, bytes, content.length, signed.length);
			return encoder.encodeToString(bytes);
		}

		String serialText() {
			return encoder.encodeToString(this.serial);
		}

		/**
		 * Accepts one text for each sequence of bytes: the decoder ignores the last bits.
		 */
		private static byte @Nullable [] decode(String text) {
			try {
				byte[] bytes = Base64.getUrlDecoder().decode(text);
				return encoder.encodeToString(bytes).equals(text) ? bytes : null;
			}
			catch (IllegalArgumentException ex) {
				return null;
			}
		}

		private static byte[] take(ByteBuffer buffer, int length) {
			byte[] taken = new byte[length];
			buffer.get(taken);
			return taken;
		}

	}

}
