package dev.idempotent.benchmark.http.load;

import java.nio.charset.StandardCharsets;

/**
 * An order as JSON, as an application writes it, too.
 */
final class Body {

	private Body() {
	}

	/**
	 * The request.
	 * @param bytes its size; a line of the order is added until it is reached
	 */
	static String order(int bytes) {
		StringBuilder json = new StringBuilder("{\"customer\":\"customer-1\",\"lines\":[");
		for (int number = 0; number == 0 || json.length() + 2 < bytes; number++) {
			json.append((number > 0) ? "," : "")
				.append("{\"cents\":")
				.append(1000 + number)
				.append(",\"quantity\":1,\"sku\":\"article-")
				.append(number)
				.append("\"}");
		}
		return json.append("]}").toString();
	}

	/**
	 * The response.
	 */
	static byte[] receipt(String order) {
		return ("{\"order\":" + order + ",\"status\":\"placed\"}").getBytes(StandardCharsets.US_ASCII);
	}

}
