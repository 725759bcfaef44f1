package dev.idempotent.sample.crash;

import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import dev.idempotent.sample.crash.site.ShopInstance;
import org.jspecify.annotations.Nullable;

/**
 * Sends orders and payments to instances of the shop and records the outcome.
 */
final class OrderSender {

	private static final Duration PATIENCE = Duration.ofSeconds(3);

	private final HttpClient http = HttpClient.newBuilder()
		.version(HttpClient.Version.HTTP_1_1)
		.connectTimeout(Duration.ofSeconds(1))
		.build();

	private final String path;

	private final Duration patience;

	/**
	 * Creates a sender that times out and retries early, as impatient clients do.
	 * @param path the path of orders
	 */
	OrderSender(String path) {
		this(path, PATIENCE);
	}

	/**
	 * Creates a sender.
	 * @param path the path of orders
	 * @param patience how long to wait for a response
	 */
	OrderSender(String path, Duration patience) {
		this.path = path;
		this.patience = patience;
	}

	/**
	 * Sends an order.
	 * @param key the key, which is also the name of the user
	 * @param altered whether to send another request under the same key
	 * @param chaos the header {@code X-Chaos}, or nothing
	 * @return the outcome; never fails
	 */
	CompletableFuture<Attempt> send(ShopInstance shop, String key, boolean altered, String chaos) {
		return send(shop, this.path, key, """
				{"userId": "%s", "item": "Coffee coupon", "amount": %d}
				""".formatted(key, altered ? 2 : 1), altered, chaos);
	}

	/**
	 * Sends a payment.
	 * @param key the key
	 * @param orderId the order to pay
	 * @param chaos the header {@code X-Chaos}, or nothing
	 * @return the outcome; never fails
	 */
	CompletableFuture<Attempt> pay(ShopInstance shop, String key, String orderId, String chaos) {
		return send(shop, "/api/orders/" + orderId + "/payment", key, "{\"method\": \"card\"}", false, chaos);
	}

	private CompletableFuture<Attempt> send(ShopInstance shop, String path, String key, String body, boolean altered,
			String chaos) {
		String life = shop.life();
		long sent = System.currentTimeMillis();
		return this.http.sendAsync(request(shop, path, key, body, chaos), BodyHandlers.ofString())
			.handle((response, failure) -> new Attempt(life, chaos, altered, sent, System.currentTimeMillis(),
					(failure == null) ? Answer.of(response) : null, describe(failure)));
	}

	private HttpRequest request(ShopInstance shop, String path, String key, String body, String chaos) {
		HttpRequest.Builder request = HttpRequest.newBuilder(shop.uri(path))
			.timeout(this.patience)
			.header("Content-Type", "application/json")
			.header("Idempotency-Key", key)
			.POST(BodyPublishers.ofString(body));
		return chaos.isEmpty() ? request.build() : request.header("X-Chaos", chaos).build();
	}

	private static String describe(@Nullable Throwable failure) {
		Throwable cause = (failure instanceof CompletionException) ? failure.getCause() : failure;
		if (cause == null) {
			return "";
		}
		if (cause instanceof ConnectException) {
			return "refused";
		}
		return (cause instanceof HttpTimeoutException) ? "timed out" : Attempt.BROKEN;
	}

}
