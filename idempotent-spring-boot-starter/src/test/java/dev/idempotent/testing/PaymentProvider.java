package dev.idempotent.testing;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.sun.net.httpserver.HttpExchange;
import org.jspecify.annotations.Nullable;

/**
 * A payment provider as they are: it does nothing twice under one key, and marks neither
 * replays nor its answers. A request to {@code /charges} that contains {@code declined}
 * is declined with 402; a second refund of a charge gets 409 with the code
 * {@code already-refunded}. The body of a request is the reference of its charge.
 */
public final class PaymentProvider implements AutoCloseable {

	private static final int CONFLICT = 409;

	private final Map<String, Integer> answers = new HashMap<>();

	private final List<String> book = new ArrayList<>();

	private final Set<String> refunded = new HashSet<>();

	private final LocalHttpServer server = LocalHttpServer.start(this::handle);

	private int keyless;

	public URI uri() {
		return URI.create(this.server.url() + "/");
	}

	/**
	 * What was done for a reference, in its order: {@code charge} and {@code refund}.
	 */
	public synchronized List<String> book(String reference) {
		return this.book.stream()
			.filter((entry) -> entry.endsWith(" " + reference))
			.map((entry) -> entry.substring(0, entry.indexOf(' ')))
			.toList();
	}

	/**
	 * How many requests had no key.
	 */
	public synchronized int keyless() {
		return this.keyless;
	}

	/**
	 * Refunds a charge in another way than by a request, such as by hand.
	 */
	public synchronized void refundByHand(String reference) {
		this.refunded.add(reference);
		this.book.add("refund " + reference);
	}

	private void handle(HttpExchange exchange) throws IOException {
		try (exchange) {
			String reference = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
			String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
			int status = answer(exchange.getRequestURI().getPath(), key, reference);
			String code = (status == CONFLICT) ? ",\"code\":\"already-refunded\"" : "";
			byte[] body = ("{\"status\":" + status + code + "}").getBytes(StandardCharsets.UTF_8);
			exchange.getResponseHeaders().set("Content-Type", "application/json");
			exchange.sendResponseHeaders(status, body.length);
			exchange.getResponseBody().write(body);
		}
	}

	/**
	 * The answer does not depend on the query.
	 */
	private synchronized int answer(String path, @Nullable String key, String reference) {
		if (key == null) {
			this.keyless++;
			return act(path, reference);
		}
		Integer before = this.answers.get(key);
		if (before != null) {
			return before;
		}
		int status = act(path, reference);
		this.answers.put(key, status);
		return status;
	}

	private int act(String path, String reference) {
		if (path.equals("/refunds")) {
			if (!this.refunded.add(reference)) {
				return CONFLICT;
			}
			this.book.add("refund " + reference);
			return 200;
		}
		if (reference.contains("declined")) {
			return 402;
		}
		this.book.add("charge " + reference);
		return 200;
	}

	@Override
	public void close() {
		this.server.close();
	}

}
