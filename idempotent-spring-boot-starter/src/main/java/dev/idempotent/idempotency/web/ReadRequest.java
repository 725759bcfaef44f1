package dev.idempotent.idempotency.web;

import java.util.List;
import java.util.SortedMap;

import jakarta.servlet.http.HttpServletRequest;

/**
 * A request that has been read.
 *
 * @param request the request for the handler, which can read it again
 * @param content the content
 */
record ReadRequest(HttpServletRequest request, Content content) {

	/**
	 * Returns the body as bytes; empty for forms.
	 */
	byte[] body() {
		return (this.content instanceof Body body) ? body.bytes() : new byte[0];
	}

	/**
	 * The content of a request that is part of its fingerprint.
	 */
	sealed interface Content {

	}

	/**
	 * A body of bytes.
	 *
	 * @param bytes the body
	 * @param isJson whether its content type is JSON
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record Body(byte[] bytes, boolean isJson) implements Content {
	}

	/**
	 * A form that the container has parsed, so that its bytes are consumed.
	 *
	 * @param fields the fields by name, including the parameters of the URL
	 */
	record Form(SortedMap<String, List<String>> fields) implements Content {
	}

	/**
	 * A multipart form, whose boundary differs in each retry.
	 *
	 * @param parts the parts in the order sent
	 */
	record Multipart(List<PartDigest> parts) implements Content {
	}

	/**
	 * A part of a multipart form.
	 *
	 * @param name the field
	 * @param fileName the file, or an empty string
	 * @param contentType the type, or an empty string
	 * @param digest the SHA-256 of the content in hexadecimal digits
	 */
	record PartDigest(String name, String fileName, String contentType, String digest) {
	}

}
