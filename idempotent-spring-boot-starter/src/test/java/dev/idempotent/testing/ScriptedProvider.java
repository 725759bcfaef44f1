package dev.idempotent.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;

import com.sun.net.httpserver.HttpExchange;

/**
 * A provider whose answers to the requests to each path are named in turn; the last one
 * is repeated. Some of them state that the provider has done something.
 */
public final class ScriptedProvider implements AutoCloseable {

	private static final int NO_ANSWER = 0;

	private final Map<String, Queue<Answer>> answers = new HashMap<>();

	private final List<String> requests = new ArrayList<>();

	private final List<String> keys = new ArrayList<>();

	private final List<String> book = new ArrayList<>();

	private final LocalHttpServer server = LocalHttpServer.start(this::handle);

	public String url() {
		return this.server.url();
	}

	/**
	 * Replaces the answers to the next requests to a path.
	 */
	public synchronized void says(String path, Answer... next) {
		this.answers.put(path, new ArrayDeque<>(List.of(next)));
	}

	/**
	 * The paths of the requests that had an effect, in their order.
	 */
	public synchronized List<String> book() {
		return List.copyOf(this.book);
	}

	/**
	 * The paths of all requests, in their order.
	 */
	public synchronized List<String> requests() {
		return List.copyOf(this.requests);
	}

	/**
	 * The keys of all requests, in their order; {@code none} where there was none.
	 */
	public synchronized List<String> keys() {
		return List.copyOf(this.keys);
	}

	private synchronized Answer next(HttpExchange exchange) {
		String path = exchange.getRequestURI().getPath();
		this.requests.add(path);
		this.keys.add(Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Idempotency-Key"), "none"));
		Queue<Answer> next = this.answers.getOrDefault(path, new ArrayDeque<>());
		Answer answer = (next.size() > 1) ? next.remove() : next.peek();
		if (answer == null) {
			return Answer.answer(500, "");
		}
		if (answer.effective()) {
			this.book.add(path);
		}
		return answer;
	}

	private void handle(HttpExchange exchange) throws IOException {
		// Closing an exchange without a response closes its connection.
		try (exchange) {
			exchange.getRequestBody().readAllBytes();
			Answer answer = next(exchange);
			if (answer.status() != NO_ANSWER) {
				byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
				exchange.getResponseHeaders().set("Content-Type", answer.type());
				exchange.sendResponseHeaders(answer.status(), (body.length > 0) ? body.length : -1);
				exchange.getResponseBody().write(body);
			}
		}
	}

	@Override
	public void close() {
		this.server.close();
	}

	/**
	 * One answer.
	 *
	 * @param status its status
	 * @param type the type of its body
	 * @param body its body
	 * @param effective whether the provider has done what was asked
	 */
	public record Answer(int status, String type, String body, boolean effective) {

		/**
		 * An answer of the provider, which has done nothing.
		 */
		public static Answer answer(int status, String json) {
			return new Answer(status, "application/json", json, false);
		}

		/**
		 * An answer of a gateway; the provider has seen nothing.
		 */
		public static Answer gateway(int status, String page) {
			return new Answer(status, "text/html", page, false);
		}

		/**
		 * No answer; the provider has done nothing.
		 */
		public static Answer lost() {
			return new Answer(NO_ANSWER, "", "", false);
		}

		/**
		 * The same answer of a provider that has done what was asked.
		 */
		public Answer done() {
			return new Answer(this.status, this.type, this.body, true);
		}

	}

}
