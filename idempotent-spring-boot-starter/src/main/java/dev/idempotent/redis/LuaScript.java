package dev.idempotent.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.script.DigestUtils;

/**
 * A script that runs atomically on the server. The header of its file documents its
 * effect, keys, arguments and reply.
 */
public final class LuaScript {

	private final String text;

	private final String digest;

	private LuaScript(String text) {
		this.text = text;
		this.digest = DigestUtils.sha1DigestAsHex(text);
	}

	/**
	 * Reads a script.
	 * @param owner the class that runs it
	 * @param file the name of the file beside that class
	 * @return the script
	 */
	public static LuaScript of(Class<?> owner, String file) {
		try {
			return new LuaScript(new ClassPathResource(file, owner).getContentAsString(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Script not found on the class path: " + file, ex);
		}
	}

	/**
	 * The text of the script.
	 * @return never blank
	 */
	public String text() {
		return this.text;
	}

	/**
	 * The digest by which a server knows the script.
	 * @return the SHA-1
	 */
	public String digest() {
		return this.digest;
	}

}
