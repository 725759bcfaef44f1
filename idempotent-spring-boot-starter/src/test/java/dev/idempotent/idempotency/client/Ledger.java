package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpExchange;
import dev.idempotent.testing.LocalHttpServer;

/**
 * A service with several addresses and one memory of keys. It acts once for each key, and
 * loses its response to the first request for each path. A caller that takes its address
 * from here uses another one for each request.
 */
public final class Ledger implements AutoCloseable {

	private final List<LocalHttpServer> servers = new ArrayList<>();

	private final List<String> locations = new ArrayList<>();

	private final AtomicInteger moves = new AtomicInteger();

	private final Map<String, List<String>> keys = new LinkedHashMap<>();

	private final Map<String, String> effects = new LinkedHashMap<>();

	/**
	 * Opens an address.
	 * @param prefix the path of the service there, such as {@code /pay}; may be empty
	 */
	public Ledger at(String prefix) {
		LocalHttpServer server = LocalHttpServer.start((exchange) -> handle(exchange, prefix));
		this.servers.add(server);
		this.locations.add(server.url() + prefix);
		return this;
	}

	/**
	 * All addresses.
	 */
	public List<String> locations() {
		return List.copyOf(this.locations);
	}

	/**
	 * The address for the next request.
	 */
	public String next() {
		return this.locations.get(this.moves.getAndIncrement() % this.locations.size());
	}

	/**
	 * The keys of all requests for a path, in their order.
	 */
	public synchronized List<String> keys(String path) {
		return List.copyOf(this.keys.getOrDefault(path, List.of()));
	}

	/**
	 * How often the service has acted for a path.
	 */
	public synchronized long effects(String path) {
		return this.effects.values().stream().filter((effect) -> effect.startsWith(path + " ")).count();
	}

	private void handle(HttpExchange exchange, String prefix) throws IOException {
		exchange.getRequestBody().readAllBytes();
		String path = exchange.getRequestURI().getPath().substring(prefix.length());
		String key = String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
		try (exchange) {
			if (act(exchange, path, key)) {
				return;
			}
			byte[] body = effect(key).getBytes(StandardCharsets.UTF_8);
			exchange.getResponseHeaders().set("Content-Type", "text/plain");
			exchange.sendResponseHeaders(201, body.length);
			exchange.getResponseBody().write(body);
		}
	}

	/**
	 * Returns whether the response is lost.
	 */
	private synchronized boolean act(HttpExchange exchange, String path, String key) {
		List<String> earlier = this.keys.computeIfAbsent(path, (first) -> new ArrayList<>());
		earlier.add(key);
		if (this.effects.putIfAbsent(key, path + " " + (this.effects.size() + 1)) != null) {
			exchange.getResponseHeaders().set("Idempotent-Replayed", "true");
		}
		return earlier.size() == 1;
	}

	private synchronized String effect(String key) {
		return String.valueOf(this.effects.get(key));
	}

	@Override
	public void close() {
		this.servers.forEach(LocalHttpServer::close);
	}

}
