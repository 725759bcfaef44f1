package dev.idempotent.benchmark.micro;

import java.nio.charset.StandardCharsets;

/**
 * JSON as an order service receives it: objects whose names are not sorted, numbers with
 * fractions, and a few characters beyond ASCII.
 */
public final class Documents {

	private Documents() {
	}

	/**
	 * An order.
	 * @param size about how many bytes, at least 200
	 * @return the same bytes for the same size
	 */
	public static byte[] order(int size) {
		StringBuilder json = new StringBuilder(
				"{\"customer\":\"c-4711\",\"currency\":\"EUR\",\"note\":\"F\u00fcr M\\u00fcller\\n\",\"lines\":[");
		for (int i = 0; i == 0 || json.length() < size - 100; i++) {
			json.append((i == 0) ? "" : ",")
				.append("{\"sku\":\"SKU-")
				.append(i * 7919 % 100_000)
				.append("\",\"quantity\":")
				.append(i % 9 + 1)
				.append(",\"price\":")
				.append(i % 100)
				.append('.')
				.append(10 + i % 90)
				.append(",\"gift\":")
				.append(i % 2 == 0)
				.append(",\"comment\":null}");
		}
		return json.append("],\"total\":1234.50}").toString().getBytes(StandardCharsets.UTF_8);
	}

}
