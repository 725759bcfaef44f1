package dev.idempotent.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * The texts in the URL of a request. Bytes that differ stay different, in whichever
 * charset the container or the application reads them. The parameters are parsed from the
 * query: {@link HttpServletRequest#getParameterMap()} would consume the body of a form
 * and include its fields.
 */
final class RequestUrl {

	private static final HexFormat HEX = HexFormat.of().withUpperCase();

	private RequestUrl() {
	}

	/**
	 * Returns all parameters by name, each with its values in the order sent. Names and
	 * values are in {@link #normalize normal} percent-encoding.
	 */
	static SortedMap<String, List<String>> query(HttpServletRequest request) {
		String query = request.getQueryString();
		return (query != null) ? parameters(query) : Collections.emptySortedMap();
	}

	/**
	 * Returns the same of a form.
	 */
	static SortedMap<String, List<String>> parameters(String query) {
		SortedMap<String, List<String>> parameters = new TreeMap<>();
		for (String pair : query.split("&", -1)) {
			if (!pair.isEmpty()) {
				int equals = pair.indexOf('=');
				String name = (equals < 0) ? pair : pair.substring(0, equals);
				String value = (equals < 0) ? "" : pair.substring(equals + 1);
				parameters.computeIfAbsent(normalize(name.replace('+', ' ')), (key) -> new ArrayList<>())
					.add(normalize(value.replace('+', ' ')));
			}
		}
		return parameters;
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
