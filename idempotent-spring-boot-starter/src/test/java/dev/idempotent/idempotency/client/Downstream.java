package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import com.sun.net.httpserver.HttpExchange;
import dev.idempotent.idempotency.IdempotencyReceipt;
import dev.idempotent.testing.LocalHttpServer;
import org.jspecify.annotations.Nullable;

/**
 * Another service: records the key of each request and answers as configured, or else
 * 200.
 */
public final class Downstream implements AutoCloseable {

	/**
	 * Instead of a status: the connection ends without an answer.
	 */
	public static final int SILENCE = 0;

	/**
	 * Instead of a status: 200, and the connection ends within the body.
	 */
	public static final int HALF_AN_ANSWER = 1;

	private static final byte[] BODY = "done".getBytes(StandardCharsets.UTF_8);

	private final List<String> keys = new ArrayList<>();

	private final List<String> cancels = new ArrayList<>();

	private final Queue<Integer> statuses = new ArrayDeque<>();

	private final LocalHttpServer server = LocalHttpServer.start(this::handle);

	private volatile @Nullable String location;

	private volatile @Nullable String replayed;

	private volatile boolean givesReceipts;

	/**
	 * Says how the next requests are answered, in turn.
	 */
	public synchronized void willAnswer(int... next) {
		for (int status : next) {
			this.statuses.add(status);
		}
	}

	/**
	 * Redirects requests to another service, with the next status.
	 */
	public void redirectsTo(Downstream other) {
		this.location = other.url();
	}

	/**
	 * Sends an Idempotent-Replayed header with each answer from now on.
	 */
	public void marksReplays(String value) {
		this.replayed = value;
	}

	/**
	 * Sends a receipt with each answer from now on, as a participant does.
	 */
	public void givesReceipts() {
		this.givesReceipts = true;
	}

	/**
	 * The keys of all requests so far, in their order; {@code none} where none was sent.
	 */
	public synchronized List<String> keys() {
		return List.copyOf(this.keys);
	}

	/**
	 * The Idempotency-Cancels header of all requests so far, as {@link #keys()}.
	 */
	synchronized List<String> cancels() {
		return List.copyOf(this.cancels);
	}

	public String url() {
		return this.server.url();
	}

	int port() {
		return this.server.port();
	}

	private synchronized int note(HttpExchange exchange) {
		this.keys.add(header(exchange, "Idempotency-Key"));
		this.cancels.add(header(exchange, "Idempotency-Cancels"));
		Integer status = this.statuses.poll();
		return (status != null) ? status : 200;
	}

	private static String header(HttpExchange exchange, String name) {
		return String.join(", ", exchange.getRequestHeaders().getOrDefault(name, List.of("none")));
	}

	private void handle(HttpExchange exchange) throws IOException {
		exchange.getRequestBody().readAllBytes();
		int status = note(exchange);
		if (this.location != null) {
			exchange.getResponseHeaders().set("Location", this.location + exchange.getRequestURI());
		}
		if (this.replayed != null) {
			exchange.getResponseHeaders().set("Idempotent-Replayed", this.replayed);
		}
		String key = header(exchange, "Idempotency-Key");
		if (this.givesReceipts && !key.equals("none")) {
			exchange.getResponseHeaders().set(IdempotencyReceipt.HEADER, IdempotencyReceipt.of(key));
		}
		try (exchange) {
			switch (status) {
				case SILENCE -> {
				}
				case HALF_AN_ANSWER -> answer(exchange, 200, BODY.length + 1);
				case 401 -> {
					// Without a challenge, Jetty's client takes it for no answer.
					exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
					answer(exchange, status, BODY.length);
				}
				case 204, 304 -> exchange.sendResponseHeaders(status, -1);
				default -> answer(exchange, status, BODY.length);
			}
		}
	}

	private static void answer(HttpExchange exchange, int status, int length) throws IOException {
		exchange.getResponseHeaders().set("Content-Type", "text/plain");
		if (exchange.getRequestMethod().equals("HEAD")) {
			exchange.sendResponseHeaders(status, -1);
			return;
		}
		exchange.sendResponseHeaders(status, length);
		OutputStream body = exchange.getResponseBody();
		body.write(BODY);
		body.flush();
	}

	@Override
	public void close() {
		this.server.close();
	}

}
