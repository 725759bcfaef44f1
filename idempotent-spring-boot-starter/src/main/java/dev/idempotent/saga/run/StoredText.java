package dev.idempotent.saga.run;

import org.jspecify.annotations.Nullable;

/**
 * The stored form of a text for operators, which each database accepts.
 */
public final class StoredText {

	private static final int LONGEST = 1000;

	private static final char REPLACEMENT = '\uFFFD';

	private StoredText() {
	}

	/**
	 * Cuts a text between characters after 1000 UTF-16 units, and replaces NUL and
	 * incomplete characters.
	 * @param text a text, or {@code null}
	 * @return the stored form
	 */
	public static @Nullable String of(@Nullable String text) {
		if (text == null) {
			return null;
		}
		StringBuilder stored = new StringBuilder();
		for (int i = 0; i < text.length() && i < LONGEST; i++) {
			char unit = text.charAt(i);
			if (Character.isHighSurrogate(unit) && i + 1 < text.length()
					&& Character.isLowSurrogate(text.charAt(i + 1))) {
				if (i + 1 < LONGEST) {
					stored.append(unit).append(text.charAt(i + 1));
				}
				i++;
			}
			else {
				stored.append((unit == 0 || Character.isSurrogate(unit)) ? REPLACEMENT : unit);
			}
		}
		return stored.toString();
	}

}
