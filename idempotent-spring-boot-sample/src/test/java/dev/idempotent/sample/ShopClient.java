package dev.idempotent.sample;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;

/**
 * A client of the shop that returns unprocessed responses.
 */
public final class ShopClient {

	private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final String root;

	public ShopClient(int port) {
		this.root = "http://127.0.0.1:" + port;
	}

	public HttpResponse<String> get(String path) {
		return this.http.sendAsync(request(path).build(), BodyHandlers.ofString()).join();
	}

	public HttpResponse<String> delete(String path) {
		return deleteAsync(path).join();
	}

	public CompletableFuture<HttpResponse<String>> deleteAsync(String path) {
		return this.http.sendAsync(request(path).DELETE().build(), BodyHandlers.ofString());
	}

	public HttpResponse<String> post(String path, String json, String... headers) {
		return postAsync(path, json, headers).join();
	}

	public CompletableFuture<HttpResponse<String>> postAsync(String path, String json, String... headers) {
		HttpRequest.Builder request = request(path).header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(json));
		if (headers.length > 0) {
			request.headers(headers);
		}
		return this.http.sendAsync(request.build(), BodyHandlers.ofString());
	}

	/**
	 * Places an order with a new key and returns its id.
	 */
	public String placeOrder(String userId) {
		HttpResponse<String> answer = post("/api/orders", orderOf(userId, 1), "Idempotency-Key", newKey());
		return JsonPath.read(answer.body(), "$.orderId");
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create(this.root + path));
	}

	public static String orderOf(String userId, int amount) {
		return """
				{"userId": "%s", "item": "Coffee coupon", "amount": %d}
				""".formatted(userId, amount);
	}

	public static String newKey() {
		return UUID.randomUUID().toString();
	}

	/**
	 * Returns a user without any rows in the database.
	 */
	public static String newUser() {
		return "user-" + UUID.randomUUID();
	}

}
