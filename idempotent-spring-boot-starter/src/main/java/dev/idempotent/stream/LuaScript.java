package dev.idempotent.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import org.springframework.core.io.ClassPathResource;

/**
 * The scripts that run atomically on the server. The header of each file documents its
 * effect, keys and arguments.
 */
enum LuaScript {

	CLAIM, DEAD_LETTER, RELEASE, REMOVE_IDLE_CONSUMERS, RENEW;

	private final String text;

	LuaScript() {
		String file = name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
		try {
			this.text = new ClassPathResource(file, LuaScript.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Script not found on the class path: " + file, ex);
		}
	}

	String text() {
		return this.text;
	}

}
