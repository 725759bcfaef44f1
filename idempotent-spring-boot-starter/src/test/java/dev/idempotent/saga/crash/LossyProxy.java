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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/**
 * The network in front of the participants: while it is lossy, it drops requests and
 * replies, doubles requests, and delivers some long after the caller has given up.
 */
final class LossyProxy implements AutoCloseable {

	private static final List<String> HEADERS = List.of("Content-Type", "Idempotency-Key", "Idempotency-Cancels");

	private static final int LONGEST_DELAY_MILLIS = 8_000;

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
			HttpRequest request = requestOf(exchange);
			int chance = ThreadLocalRandom.current().nextInt(100);
			if (!this.lossy || chance >= 35) {
				reply(exchange, send(request));
			}
			else if (chance < 5) {
				this.tally.count("network request lost");
			}
			else if (chance < 15) {
				this.tally.count("network request delayed");
				sendLater(request);
				TimeUnit.MILLISECONDS.sleep(OrchestratorApplication.READ_TIMEOUT.toMillis());
			}
			else if (chance < 25) {
				this.tally.count("network reply lost");
				send(request);
			}
			else {
				this.tally.count("network request doubled");
				sendLater(request);
				reply(exchange, send(request));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private HttpRequest requestOf(HttpExchange exchange) throws IOException {
		URI uri = this.target.get().resolve(exchange.getRequestURI());
		HttpRequest.Builder request = HttpRequest.newBuilder(uri)
			.timeout(Duration.ofSeconds(20))
			.POST(BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
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

	private void sendLater(HttpRequest request) {
		this.delayed.incrementAndGet();
		Runnable delivery = () -> {
			try {
				this.tally.count("network late " + send(request).statusCode());
			}
			catch (IOException ex) {
				this.tally.count("network late failed");
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			finally {
				this.delayed.decrementAndGet();
			}
		};
		this.later.schedule(() -> this.threads.execute(delivery),
				ThreadLocalRandom.current().nextInt(LONGEST_DELAY_MILLIS), TimeUnit.MILLISECONDS);
	}

	private static void reply(HttpExchange exchange, HttpResponse<byte[]> response) throws IOException {
		List.of("Content-Type", "Idempotent-Replayed")
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
