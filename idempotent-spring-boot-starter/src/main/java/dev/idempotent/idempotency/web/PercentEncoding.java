package dev.idempotent.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.jspecify.annotations.Nullable;

/**
 * The encoding of texts in URLs. Bytes that differ stay different, in whichever charset
 * the container or the application reads them.
 */
final class PercentEncoding {

	private static final HexFormat HEX = HexFormat.of().withUpperCase();

	private PercentEncoding() {
	}

	/**
	 * Returns the same text for all spellings of the same bytes: only the percent sign
	 * and bytes that are not visible ASCII characters are encoded, in upper case.
	 * @param text a segment of a path, or a name or value of a query with {@code +}
	 * replaced
	 */
	static String normalize(String text) {
		if (text.indexOf('%') < 0) {
			return text;
		}
		StringBuilder normalized = new StringBuilder(text.length());
		for (int i = 0; i < text.length(); i++) {
			int octet = octet(text, i);
			if (octet < 0) {
				normalized.append(text.charAt(i));
			}
			else {
				if (octet >= ' ' && octet < 0x7f && octet != '%') {
					normalized.append((char) octet);
				}
				else {
					normalized.append('%').append(HEX.toHexDigits((byte) octet));
				}
				i += 2;
			}
		}
		return normalized.toString();
	}

	/**
	 * Decodes a text.
	 * @return the text, or {@code null} if it is not UTF-8 in percent-encoding
	 */
	static @Nullable String decode(String text) {
		if (text.indexOf('%') < 0) {
			return text;
		}
		ByteArrayOutputStream octets = new ByteArrayOutputStream(text.length());
		int start = 0;
		for (int i = text.indexOf('%'); i >= 0; i = text.indexOf('%', start)) {
			int octet = octet(text, i);
			if (octet < 0) {
				return null;
			}
			octets.writeBytes(text.substring(start, i).getBytes(StandardCharsets.UTF_8));
			octets.write(octet);
			start = i + 3;
		}
		octets.writeBytes(text.substring(start).getBytes(StandardCharsets.UTF_8));
		try {
			return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(octets.toByteArray())).toString();
		}
		catch (CharacterCodingException ex) {
			return null;
		}
	}

	/**
	 * Returns the byte that is encoded at an index, or -1 if none is.
	 */
	private static int octet(String text, int index) {
		if (text.charAt(index) != '%' || index + 2 >= text.length()) {
			return -1;
		}
		char high = text.charAt(index + 1);
		char low = text.charAt(index + 2);
		return (HexFormat.isHexDigit(high) && HexFormat.isHexDigit(low))
				? HexFormat.fromHexDigit(high) << 4 | HexFormat.fromHexDigit(low) : -1;
	}

}
