package dev.idempotent.idempotency.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.script.DigestUtils;

/**
 * The scripts that run atomically on the server. The header of each file documents its
 * effect, keys, arguments and reply.
 */
enum LuaScript {

	CLAIM(true), COMPLETE(false), RELEASE(false), RENEW(false), FIND(true), FORGET(false);

	private final boolean repliesWithList;

	private final String text;

	private final String digest;

	LuaScript(boolean repliesWithList) {
		this.repliesWithList = repliesWithList;
		this.text = read(name().toLowerCase(Locale.ROOT) + ".lua");
		this.digest = DigestUtils.sha1DigestAsHex(this.text);
	}

	/**
	 * Returns whether the reply is a list that begins with the outcome.
	 * @return {@code false} if it is the outcome itself
	 */
	boolean repliesWithList() {
		return this.repliesWithList;
	}

	byte[] text() {
		return this.text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The SHA-1 by which the server knows the script.
	 */
	String digest() {
		return this.digest;
	}

	/**
	 * The outcome in a reply.
	 */
	String outcome(Object reply) {
		byte[] outcome = (byte[]) (this.repliesWithList ? ((List<?>) reply).get(0) : reply);
		return new String(outcome, StandardCharsets.US_ASCII);
	}

	private static String read(String file) {
		try {
			return new ClassPathResource(file, LuaScript.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Script not found on the class path: " + file, ex);
		}
	}

}
