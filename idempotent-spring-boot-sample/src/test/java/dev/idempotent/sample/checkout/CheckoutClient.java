package dev.idempotent.sample.checkout;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A customer who checks out once, and again with the same key if there is no answer.
 */
final class CheckoutClient {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final Duration TO_PRINT = Duration.ofSeconds(10);

	private static final List<String> ENDS = List.of("COMPLETED", "COMPENSATED", "HALTED");

	private final String user = ShopClient.newUser();

	private final String key = ShopClient.newKey();

	private final ShopClient shop;

	private final String body;

	CheckoutClient(ShopClient shop, int amount, String method, String crash) {
		this.shop = shop;
		this.body = """
				{"userId": "%s", "item": "Coffee coupon", "amount": %d, "method": "%s", "crash": %s, "delay": 0}
				""".formatted(this.user, amount, method, crash.isEmpty() ? "null" : "\"" + crash + "\"");
	}

	HttpResponse<String> send(String path) {
		return this.shop.post(path, this.body, "Idempotency-Key", this.key);
	}

	/**
	 * Sends the request until it is answered for good.
	 */
	HttpResponse<String> sendUntilAnswered(String path) {
		return Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> send(path),
					(response) -> response.statusCode() < 500 && !response.body().contains("in-progress"));
	}

	/**
	 * Starts the checkout in this JVM, or finds the one that is started under its key.
	 * @return the id
	 */
	String start() {
		return JsonPath.read(sendUntilAnswered("/api/checkout/start").body(), "$.id");
	}

	/**
	 * Waits until a checkout has a status.
	 */
	String await(String id, String status) {
		return Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.shop.get("/api/checkout/" + id).body(),
					(body) -> status.equals(JsonPath.read(body, "$.status")));
	}

	/**
	 * Starts the checkout at the second JVM, and waits until something has happened to
	 * it.
	 * @return the response, or {@code null} if it has happened. One that is started is
	 * due for each JVM, so that this one may have run it
	 */
	@Nullable HttpResponse<String> startAtOwner(String what, String detail) {
		long before = lastEvent();
		HttpResponse<String> started = Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> send("/api/chaos/checkout/start"), (response) -> response.statusCode() != 503);
		if (started.statusCode() == 202) {
			Awaitility.await().atMost(PATIENCE).until(() -> hasHappened(before, what, detail) || hasEnded(started));
		}
		try {
			// What the second JVM prints arrives after what it stores.
			Awaitility.await().atMost(TO_PRINT).until(() -> hasHappened(before, what, detail));
			return null;
		}
		catch (ConditionTimeoutException ex) {
			return started;
		}
	}

	private boolean hasEnded(HttpResponse<String> started) {
		return ENDS.contains(JsonPath
			.<String>read(this.shop.get("/api/checkout/" + JsonPath.read(started.body(), "$.id")).body(), "$.status"));
	}

	/**
	 * Waits until something has happened to the second JVM.
	 */
	void awaitOwner(long after, String what, String detail) {
		Awaitility.await().atMost(PATIENCE).until(() -> hasHappened(after, what, detail));
	}

	private boolean hasHappened(long after, String what, String detail) {
		return !JsonPath
			.<List<?>>read(this.shop.get("/api/chaos/checkout").body(),
					"$.events[?(@.number > %d && @.what == '%s' && @.detail == '%s')]".formatted(after, what, detail))
			.isEmpty();
	}

	/**
	 * Returns the number of the last event of all second JVMs.
	 */
	long lastEvent() {
		List<Integer> numbers = JsonPath.read(this.shop.get("/api/chaos/checkout").body(), "$.events[*].number");
		return numbers.isEmpty() ? 0 : numbers.get(numbers.size() - 1);
	}

	/**
	 * Returns what is left in all services.
	 */
	String effects() {
		return this.shop.get("/api/effects?userId=" + this.user).body();
	}

}
