package dev.idempotent.saga.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import dev.idempotent.testing.Tally;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/**
 * The network in front of the participants: while it is lossy, it drops requests and
 * replies, doubles requests, delivers some long after the caller has given up, and
 * answers for the participants as gateways do.
 */
final class LossyProxy implements AutoCloseable {

	private static final List<String> HEADERS = List.of("Content-Type", "Idempotency-Key", "Idempotency-Cancels");

	private static final int LONGEST_DELAY_MILLIS = 15_000;

	private static final int ATTEMPTS = 5;

	private static final int LOST = 5;

	private static final int DELAYED = 15;

	private static final int REPLY_LOST = 25;

	private static final int DOUBLED = 35;

	private static final int ANSWERED = 45;

	/**
	 * With an empty body or a page.
	 */
	private static final List<Integer> STATUSES = List.of(200, 200, 302, 403, 404, 502, 503, 504);

	private final HttpServer server;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final ScheduledExecutorService later = Executors.newScheduledThreadPool(2);

	private final HttpClient client = HttpClient.newBuilder()
		.version(Version.HTTP_1_1)
		.connectTimeout(Duration.ofSeconds(2))
		.build();

	private final AtomicInteger delayed = new AtomicInteger();

	private final Supplier<URI> target;

	private final Tally tally;

	private volatile boolean lossy;

	/**
	 * Opens a proxy.
	 * @param target chooses the instance that gets a request
	 * @param tally counts what is lost, doubled and late
	 */
	LossyProxy(Supplier<URI> target, Tally tally) {
		this.target = target;
		this.tally = tally;
		try {
			this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server.setExecutor(this.threads);
		this.server.createContext("/", this::handle);
		this.server.start();
	}

	String url() {
		return "http://127.0.0.1:" + this.server.getAddress().getPort();
	}

	void setLossy(boolean lossy) {
		this.lossy = lossy;
	}

	/**
	 * Whether all delayed requests were delivered.
	 */
	boolean isEmpty() {
		return this.delayed.get() == 0;
	}

	private void handle(HttpExchange exchange) throws IOException {
		// Closing an exchange without a response closes its connection.
		try (exchange) {
			byte[] body = exchange.getRequestBody().readAllBytes();
			Supplier<HttpRequest> request = () -> requestOf(exchange, body);
			int chance = this.lossy ? ThreadLocalRandom.current().nextInt(100) : 100;
			if (this.lossy && isLate(exchange, body)) {
				chance = DELAYED - 1;
			}
			if (chance < LOST) {
				this.tally.count("network request lost");
			}
			else if (chance < DELAYED) {
				this.tally.count("network request delayed");
				sendLater(request, ATTEMPTS);
				TimeUnit.MILLISECONDS.sleep(OrchestratorApplication.READ_TIMEOUT.toMillis());
			}
			else if (chance < REPLY_LOST) {
				this.tally.count("network reply lost");
				send(request.get());
			}
			else if (chance >= DOUBLED && chance < ANSWERED) {
				this.tally.count("network answer of the gateway");
				if (chance % 2 == 0) {
					send(request.get());
				}
				answer(exchange);
			}
			else {
				if (chance < DOUBLED) {
					this.tally.count("network request doubled");
					sendLater(request, ATTEMPTS);
				}
				reply(exchange, send(request.get()));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static boolean isLate(HttpExchange exchange, byte[] body) {
		return exchange.getRequestURI().getPath().equals("/hold")
				&& new String(body, StandardCharsets.UTF_8).contains(ChildApplication.Command.LATE_HOLD);
	}

	private HttpRequest requestOf(HttpExchange exchange, byte[] body) {
		HttpRequest.Builder request = HttpRequest.newBuilder(this.target.get().resolve(exchange.getRequestURI()))
			.timeout(Duration.ofSeconds(20))
			.POST(BodyPublishers.ofByteArray(body));
		for (String header : HEADERS) {
			String value = exchange.getRequestHeaders().getFirst(header);
			if (value != null) {
				request.header(header, value);
			}
		}
		return request.build();
	}

	private HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
		HttpResponse<byte[]> response = this.client.send(request, BodyHandlers.ofByteArray());
		this.tally.count("network response " + response.statusCode());
		return response;
	}

	/**
	 * Delivers a request later; if its instance is not there, later still.
	 */
	private void sendLater(Supplier<HttpRequest> request, int attempts) {
		this.delayed.incrementAndGet();
		Runnable delivery = () -> {
			try {
				this.tally.count("network late " + send(request.get()).statusCode());
			}
			catch (IOException ex) {
				if (attempts > 1) {
					sendLater(request, attempts - 1);
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			finally {
				this.delayed.decrementAndGet();
			}
		};
		ScheduledFuture<?> unused = this.later.schedule(() -> this.threads.execute(delivery),
				ThreadLocalRandom.current().nextInt(LONGEST_DELAY_MILLIS), TimeUnit.MILLISECONDS);
	}

	private static void answer(HttpExchange exchange) throws IOException {
		int status = SagaSite.any(STATUSES);
		boolean page = ThreadLocalRandom.current().nextBoolean();
		byte[] body = page ? "<html><body>Please log in</body></html>".getBytes(StandardCharsets.UTF_8) : new byte[0];
		exchange.getResponseHeaders().set("Content-Type", page ? "text/html" : "text/plain");
		exchange.sendResponseHeaders(status, page ? body.length : -1);
		exchange.getResponseBody().write(body);
	}

	private static void reply(HttpExchange exchange, HttpResponse<byte[]> response) throws IOException {
		List.of("Content-Type", "Idempotent-Replayed", "Idempotency-Receipt")
			.forEach((name) -> response.headers()
				.firstValue(name)
				.ifPresent((value) -> exchange.getResponseHeaders().set(name, value)));
		byte[] body = response.body();
		exchange.sendResponseHeaders(response.statusCode(), (body.length > 0) ? body.length : -1);
		if (body.length > 0) {
			exchange.getResponseBody().write(body);
		}
	}

	@Override
	public void close() {
		this.server.stop(0);
		this.later.shutdownNow();
		this.threads.shutdownNow();
	}

}
