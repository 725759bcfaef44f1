package dev.idempotent.idempotency.web;

import java.util.List;
import java.util.SortedMap;

/**
 * What a request carries, as far as its fingerprint is concerned.
 */
sealed interface RequestContent {

	/**
	 * Bytes that are read again by the handler.
	 *
	 * @param bytes the body
	 * @param isJson whether it says that it is JSON
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record Body(byte[] bytes, boolean isJson) implements RequestContent {
	}

	/**
	 * A form, which the container has read: its bytes are gone.
	 *
	 * @param fields the fields by name, those of the URL among them
	 */
	record Form(SortedMap<String, List<String>> fields) implements RequestContent {
	}

	/**
	 * A form with files, whose boundary differs in each retry.
	 *
	 * @param parts the parts in the order sent
	 */
	record Multipart(List<PartDigest> parts) implements RequestContent {
	}

	/**
	 * A part of a form with files.
	 *
	 * @param name the field
	 * @param fileName the file, or an empty string
	 * @param contentType the type, or an empty string
	 * @param digest the SHA-256 of the content in hexadecimal digits
	 */
	record PartDigest(String name, String fileName, String contentType, String digest) {
	}

}
