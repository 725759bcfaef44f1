package dev.idempotent.sample.sale;

import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client of one flash sale.
 */
final class SaleClient {

	private final ShopClient shop;

	private final String item = "item-" + UUID.randomUUID();

	SaleClient(ShopClient shop) {
		this.shop = shop;
	}

	String item() {
		return this.item;
	}

	/**
	 * Opens the sale with a new key.
	 */
	SaleClient open(int stock, int perUser) {
		assertThat(open(stock, perUser, ShopClient.newKey()).statusCode()).isEqualTo(201);
		return this;
	}

	HttpResponse<String> open(int stock, int perUser, String key, String... headers) {
		return this.shop.post("/api/flash-sales", """
				{"item": "%s", "stock": %d, "perUser": %d}
				""".formatted(this.item, stock, perUser), withKey(key, headers));
	}

	HttpResponse<String> view() {
		return this.shop.get("/api/flash-sales/" + this.item);
	}

	boolean isSoldOutAtTheDoor() {
		return JsonPath.read(this.shop.get("/api/flash-sales/" + this.item + "/door").body(), "$.soldOut");
	}

	HttpResponse<String> reserve(String user, String key, String... headers) {
		return post("/reservations", user, key, headers);
	}

	/**
	 * Reserves a unit with a new key and returns the id of the reservation.
	 */
	String reserved(String user) {
		HttpResponse<String> reserved = reserve(user, ShopClient.newKey());
		assertThat(reserved.statusCode()).isEqualTo(201);
		return idOf(reserved);
	}

	HttpResponse<String> buyNaively(String user, String key, String... headers) {
		return post("/naive", user, key, headers);
	}

	HttpResponse<String> find(String reservationId) {
		return this.shop.get("/api/reservations/" + reservationId);
	}

	String stateOf(String reservationId) {
		return JsonPath.read(find(reservationId).body(), "$.state");
	}

	HttpResponse<String> order(String reservationId, String... headers) {
		return orderAsync(reservationId, headers).join();
	}

	CompletableFuture<HttpResponse<String>> orderAsync(String reservationId, String... headers) {
		return this.shop.postAsync("/api/reservations/" + reservationId + "/order", "", headers);
	}

	HttpResponse<String> cancel(String reservationId) {
		return cancelAsync(reservationId).join();
	}

	CompletableFuture<HttpResponse<String>> cancelAsync(String reservationId) {
		return this.shop.deleteAsync("/api/reservations/" + reservationId);
	}

	private HttpResponse<String> post(String path, String user, String key, String... headers) {
		return this.shop.post("/api/flash-sales/" + this.item + path, "{\"userId\": \"" + user + "\"}",
				withKey(key, headers));
	}

	static String idOf(HttpResponse<String> reserved) {
		return JsonPath.read(reserved.body(), "$.reservationId");
	}

	/**
	 * Asserts that a response is a problem of the given type.
	 */
	static void assertRefused(HttpResponse<String> response, int status, String type) {
		assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(JsonPath.<String>read(response.body(), "$.type")).isEqualTo("urn:problem-type:flash-sale:" + type);
	}

	static boolean isReplayed(HttpResponse<String> response) {
		return response.headers().firstValue("Idempotent-Replayed").isPresent();
	}

	private static String[] withKey(String key, String... headers) {
		String[] all = new String[headers.length + 2];
		all[0] = "Idempotency-Key";
		all[1] = key;
		System.arraycopy(headers, 0, all, 2, headers.length);
		return all;
	}

}
