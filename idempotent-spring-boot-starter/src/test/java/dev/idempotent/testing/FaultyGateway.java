package dev.idempotent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpExchange;
import org.jspecify.annotations.Nullable;

/**
 * A proxy in front of a service, which fails as gateways do: it answers by itself, loses
 * or changes an answer, or sends a request twice. Without a fault it forwards everything.
 */
public final class FaultyGateway implements AutoCloseable {

	private static final String HTML = "<html><body><h1>Your session has expired</h1></body></html>";

	/**
	 * Of one connection, or set by the client itself.
	 */
	private static final Set<String> NOT_FORWARDED = Set.of("connection", "content-length", "date", "host",
			"http2-settings", "transfer-encoding", "upgrade");

	private final HttpClient client = HttpClient.newBuilder().version(Version.HTTP_1_1).build();

	private final Map<String, Queue<Fault>> faults = new ConcurrentHashMap<>();

	private final Map<String, Fault> lasting = new ConcurrentHashMap<>();

	private final Map<String, AtomicInteger> requests = new ConcurrentHashMap<>();

	private final CountDownLatch closed = new CountDownLatch(1);

	private final Queue<HttpRequest> late = new ConcurrentLinkedQueue<>();

	private final LocalHttpServer server = LocalHttpServer.start(this::handle);

	private volatile @Nullable URI service;

	/**
	 * Forwards to this service from now on.
	 */
	public FaultyGateway to(URI origin) {
		this.service = origin;
		return this;
	}

	public String url() {
		return this.server.url();
	}

	/**
	 * Lets the next requests to a path fail, in turn.
	 * @param path the path, with its query if only requests with that are to fail
	 */
	public void fail(String path, Fault... next) {
		this.faults.computeIfAbsent(path, (key) -> new ConcurrentLinkedQueue<>()).addAll(List.of(next));
	}

	/**
	 * Lets all requests to a path fail until {@link #recover}.
	 */
	public void failAlways(String path, Fault fault) {
		this.lasting.put(path, fault);
	}

	/**
	 * Forgets all faults and numbers.
	 */
	public void recover() {
		this.faults.clear();
		this.lasting.clear();
		this.requests.clear();
	}

	/**
	 * How many requests to a path have come.
	 */
	public int requests(String path) {
		AtomicInteger count = this.requests.get(path);
		return (count != null) ? count.get() : 0;
	}

	/**
	 * Delivers the requests that were {@link Fault#LATE}.
	 */
	public void deliverLate() {
		for (HttpRequest request = this.late.poll(); request != null; request = this.late.poll()) {
			try {
				send(request);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	private void handle(HttpExchange exchange) throws IOException {
		// Closing an exchange without a response closes its connection.
		try (exchange) {
			byte[] body = exchange.getRequestBody().readAllBytes();
			String path = exchange.getRequestURI().getPath();
			this.requests.computeIfAbsent(path, (key) -> new AtomicInteger()).incrementAndGet();
			Queue<Fault> ofQuery = this.faults.get(exchange.getRequestURI().toString());
			Queue<Fault> queue = (ofQuery != null) ? ofQuery : this.faults.get(path);
			Fault fault = (queue != null) ? queue.poll() : null;
			fault = (fault != null) ? fault : this.lasting.getOrDefault(path, Fault.NONE);
			handle(exchange, request(exchange, body), fault);
		}
	}

	private void handle(HttpExchange exchange, HttpRequest request, Fault fault) throws IOException {
		switch (fault) {
			case NONE -> forward(exchange, send(request));
			case EMPTY_200 -> answer(exchange, 200, "text/plain", "");
			case HTML_200 -> answer(exchange, 200, "text/html", HTML);
			case HTML_404 -> answer(exchange, 404, "text/html", HTML);
			case HTML_403 -> answer(exchange, 403, "text/html", HTML);
			case BAD_GATEWAY -> answer(exchange, 502, "text/html", HTML);
			case UNAVAILABLE -> answer(exchange, 503, "text/html", HTML);
			case TIMEOUT -> {
				send(request);
				answer(exchange, 504, "text/html", HTML);
			}
			case REDIRECT -> {
				exchange.getResponseHeaders().set("Location", url() + "/login");
				answer(exchange, 302, "text/html", HTML);
			}
			case EMPTIED -> {
				send(request);
				answer(exchange, 200, "text/plain", "");
			}
			case DROPPED -> {
			}
			case LOST -> {
				HttpResponse<byte[]> unused = send(request);
			}
			case CUT -> {
				HttpResponse<byte[]> response = send(request);
				copyHeaders(response, exchange);
				exchange.sendResponseHeaders(response.statusCode(), response.body().length + 10L);
				exchange.getResponseBody().write(response.body());
			}
			case TWICE -> {
				HttpResponse<byte[]> unused = send(request);
				forward(exchange, send(request));
			}
			case AT_ONCE, AT_ONCE_REPLACED -> {
				// The one that is refused returns first, while the other one runs.
				CompletableFuture<HttpResponse<byte[]>> first = this.client.sendAsync(request,
						BodyHandlers.ofByteArray());
				CompletableFuture<HttpResponse<byte[]>> second = this.client.sendAsync(request,
						BodyHandlers.ofByteArray());
				HttpResponse<byte[]> response = first.applyToEither(second, (any) -> any).join();
				if (fault == Fault.AT_ONCE) {
					forward(exchange, response);
				}
				else {
					copyHeaders(response, exchange);
					answer(exchange, response.statusCode(), "application/json", "{\"error\":\"conflict\"}");
				}
			}
			case BODY_LOST -> {
				HttpResponse<byte[]> unused = send(HttpRequest.newBuilder(request, (name, value) -> true)
					.method(request.method(), BodyPublishers.noBody())
					.build());
			}
			case LATE -> {
				this.late.add(request);
				answer(exchange, 504, "text/html", HTML);
			}
			case HANG -> {
				try {
					this.closed.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}
		}
	}

	private HttpRequest request(HttpExchange exchange, byte[] body) {
		URI origin = this.service;
		URI target = (origin != null) ? origin.resolve(exchange.getRequestURI()) : exchange.getRequestURI();
		HttpRequest.Builder request = HttpRequest.newBuilder(target)
			.timeout(Duration.ofSeconds(30))
			.method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
		exchange.getRequestHeaders().forEach((name, values) -> {
			if (!NOT_FORWARDED.contains(name.toLowerCase(Locale.ROOT))) {
				values.forEach((value) -> request.header(name, value));
			}
		});
		return request.build();
	}

	private HttpResponse<byte[]> send(HttpRequest request) throws IOException {
		try {
			return this.client.send(request, BodyHandlers.ofByteArray());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IOException(ex);
		}
	}

	private static void forward(HttpExchange exchange, HttpResponse<byte[]> response) throws IOException {
		copyHeaders(response, exchange);
		send(exchange, response.statusCode(), response.body());
	}

	private static void copyHeaders(HttpResponse<byte[]> response, HttpExchange exchange) {
		response.headers().map().forEach((name, values) -> {
			if (!NOT_FORWARDED.contains(name.toLowerCase(Locale.ROOT))) {
				exchange.getResponseHeaders().put(name, values);
			}
		});
	}

	private static void answer(HttpExchange exchange, int status, String type, String body) throws IOException {
		exchange.getResponseHeaders().set("Content-Type", type);
		send(exchange, status, body.getBytes(StandardCharsets.UTF_8));
	}

	private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
		exchange.sendResponseHeaders(status, (body.length > 0) ? body.length : -1);
		if (body.length > 0) {
			exchange.getResponseBody().write(body);
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
		this.server.close();
	}

	/**
	 * What a gateway does with a request.
	 */
	public enum Fault {

		/**
		 * It forwards the request.
		 */
		NONE,

		/**
		 * It answers by itself, and the service does not see the request.
		 */
		EMPTY_200, HTML_200, HTML_403, HTML_404, BAD_GATEWAY, UNAVAILABLE, REDIRECT, DROPPED,

		/**
		 * The service sees the request, and the client gets another answer or none.
		 */
		TIMEOUT, EMPTIED, LOST, CUT,

		/**
		 * The service sees the request twice, one after another or at once; the client
		 * gets one of the answers, or that with another body.
		 */
		TWICE, AT_ONCE, AT_ONCE_REPLACED,

		/**
		 * The service sees the request without its body, and the client gets no answer.
		 */
		BODY_LOST,

		/**
		 * The service sees the request after the client was told that it does not answer.
		 */
		LATE,

		/**
		 * Nothing happens.
		 */
		HANG

	}

}
