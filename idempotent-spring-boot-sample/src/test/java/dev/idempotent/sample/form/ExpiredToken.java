package dev.idempotent.sample.form;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs a token of the shop that has expired.
 */
final class ExpiredToken {

	private ExpiredToken() {
	}

	/**
	 * Returns a token that has expired an hour ago.
	 * @param secret the id of the secret, a colon, and the secret in Base64
	 */
	static String signedWith(String secret) throws GeneralSecurityException {
		byte[] id = secret.substring(0, secret.indexOf(':')).getBytes(StandardCharsets.US_ASCII);
		byte[] key = Base64.getDecoder().decode(secret.substring(id.length + 1));
		ByteBuffer content = ByteBuffer.allocate(3 + id.length + Long.BYTES + 16);
		content.put((byte) 1).put((byte) 0).put((byte) id.length).put(id);
		content.putLong(Instant.now().minus(Duration.ofHours(1)).getEpochSecond());
		Mac mac = Mac.getInstance("HmacSHA256");
		mac.init(new SecretKeySpec(key, "HmacSHA256"));
		mac.update(content.array());
		for (String part : new String[] { "coupon-shop", "place-order", "" }) {
			mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, part.length()));
			mac.update(part.getBytes(StandardCharsets.US_ASCII));
		}
		byte[] signature = mac.doFinal();
		byte[] token = ByteBuffer.allocate(content.capacity() + signature.length)
			.put(content.array())
			.put(signature)
			.array();
		return Base64.getUrlEncoder().withoutPadding().encodeToString(token);
	}

}
