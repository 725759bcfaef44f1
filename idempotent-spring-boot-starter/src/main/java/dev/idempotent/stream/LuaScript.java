package dev.idempotent.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import org.springframework.core.io.ClassPathResource;

/**
 * What is done in one step on the server. Each file says what it promises.
 */
enum LuaScript {

	BURY, CLAIM, HAND_BACK, RENEW, TIDY;

	private final String text;

	LuaScript() {
		String file = name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
		try {
			this.text = new ClassPathResource(file, LuaScript.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The jar of this library lacks " + file, ex);
		}
	}

	String text() {
		return this.text;
	}

}
