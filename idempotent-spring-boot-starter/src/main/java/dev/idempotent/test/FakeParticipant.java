package dev.idempotent.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.idempotent.idempotency.IdempotencyReceipt;
import org.jspecify.annotations.Nullable;

/**
 * A service for tests of sagas, on a port of this computer, behind a gateway that fails
 * when a test says so. It does nothing twice under one {@code Idempotency-Key}, answers
 * each {@code POST}, {@code PUT}, {@code PATCH} and {@code DELETE} with {@code 200} and
 * an empty JSON object unless a test names another answer, counts what it has done, and
 * handles {@code Idempotency-Cancels} as
 * {@link dev.idempotent.idempotency.Cancels @Cancels} does. Its answers have
 * {@linkplain IdempotencyReceipt receipts}. Thread-safe.
 */
public final class FakeParticipant implements AutoCloseable {

	private static final String KEY = "Idempotency-Key";

	private static final Pattern CANCELS = Pattern.compile("\"?([^\";]+)\"?(?:\\s*;\\s*outcome=(done|unknown))?");

	private static final String PAGE = "<html><body><h1>Please log in</h1></body></html>";

	private static final int FIRST_REFUSAL = 400;

	private static final int LAST_STATUS = 599;

	private final ExecutorService threads = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "fake-participant");
		thread.setDaemon(true);
		return thread;
	});

	private final CountDownLatch closed = new CountDownLatch(1);

	private final HttpServer server;

	private final boolean receipts;

	/**
	 * Locked to read or change any of these collections.
	 */
	private final List<String> effects = new ArrayList<>();

	private final List<String> requests = new ArrayList<>();

	private final Map<String, Known> records = new HashMap<>();

	private final Map<String, Answer> answers = new HashMap<>();

	private final Map<String, Queue<Fault>> faults = new HashMap<>();

	private final Map<String, Fault> lasting = new HashMap<>();

	private final Queue<Request> late = new ArrayDeque<>();

	private int withoutKey;

	/**
	 * Starts a service whose answers have receipts, as services with this starter.
	 */
	public FakeParticipant() {
		this(true);
	}

	private FakeParticipant(boolean receipts) {
		this.receipts = receipts;
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

	/**
	 * Starts a service without receipts, which does not mark the repetition of an answer
	 * either: it honours keys as most payment providers do. List it in
	 * {@code idempotent.client.honouring-keys}.
	 * @return the service
	 */
	public static FakeParticipant withoutReceipts() {
		return new FakeParticipant(false);
	}

	/**
	 * The address of the service, for the property of the application and for
	 * {@code idempotent.client.targets}.
	 * @return the URL, without a slash at its end
	 */
	public String url() {
		return "http://127.0.0.1:" + this.server.getAddress().getPort();
	}

	/**
	 * Sets the answer to the requests to a path that the service carries out.
	 * @param path the path, such as {@code /charges}
	 * @param status the status, from 400 on a refusal, which has no effect
	 * @param json the body, or an empty text
	 */
	public void answer(String path, int status, String json) {
		if (status < 200 || status > LAST_STATUS) {
			throw new IllegalArgumentException("The status of an answer is a number from 200 to 599");
		}
		synchronized (this.effects) {
			this.answers.put(path, new Answer(status, "application/json", json, false));
		}
	}

	/**
	 * Lets the next requests to a path fail, each in one way, in this order.
	 * @param path the path
	 * @param next what happens to the next requests
	 */
	public void fail(String path, Fault... next) {
		synchronized (this.effects) {
			this.faults.computeIfAbsent(path, (first) -> new ArrayDeque<>()).addAll(List.of(next));
		}
	}

	/**
	 * Lets all requests to a path fail, after those named by {@link #fail}, until
	 * {@link #reset}.
	 * @param path the path
	 * @param fault what happens to each request
	 */
	public void failAlways(String path, Fault fault) {
		synchronized (this.effects) {
			this.lasting.put(path, fault);
		}
	}

	/**
	 * Carries out the requests with the fault {@link Fault#LATE}, which have failed long
	 * ago from the point of view of their clients.
	 */
	public void deliverLate() {
		synchronized (this.effects) {
			for (Request request = this.late.poll(); request != null; request = this.late.poll()) {
				Answer unused = carryOut(request);
			}
		}
	}

	/**
	 * What the service has done since the last {@link #reset}: the paths of the requests
	 * that had an effect, in the order of the effects.
	 * @return the paths, each as often as it had an effect
	 */
	public List<String> effects() {
		synchronized (this.effects) {
			return List.copyOf(this.effects);
		}
	}

	/**
	 * The paths of all requests that have arrived since the last {@link #reset}, also of
	 * those that only the gateway has answered.
	 * @return the paths, in the order of arrival
	 */
	public List<String> requests() {
		synchronized (this.effects) {
			return List.copyOf(this.requests);
		}
	}

	/**
	 * How many requests had no {@code Idempotency-Key}: each of them had an effect.
	 * @return 0 if all had one
	 */
	public int requestsWithoutKey() {
		synchronized (this.effects) {
			return this.withoutKey;
		}
	}

	/**
	 * Forgets all keys, effects, answers and faults.
	 */
	public void reset() {
		synchronized (this.effects) {
			this.effects.clear();
			this.requests.clear();
			this.records.clear();
			this.answers.clear();
			this.faults.clear();
			this.lasting.clear();
			this.late.clear();
			this.withoutKey = 0;
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
		this.server.stop(0);
		this.threads.shutdownNow();
	}

	private void handle(HttpExchange exchange) throws IOException {
		// Closing an exchange without a response closes its connection.
		try (exchange) {
			Request request = Request.read(exchange);
			Fault fault;
			synchronized (this.effects) {
				this.requests.add(request.path());
				Queue<Fault> next = this.faults.get(request.path());
				Fault one = (next != null) ? next.poll() : null;
				fault = (one != null) ? one : this.lasting.getOrDefault(request.path(), Fault.NONE);
				if (fault == Fault.LATE) {
					this.late.add(request);
				}
			}
			handle(exchange, request, fault);
		}
	}

	private void handle(HttpExchange exchange, Request request, Fault fault) throws IOException {
		switch (fault) {
			case NONE -> send(exchange, request, act(request));
			case TWICE -> {
				Answer unused = act(request);
				send(exchange, request, act(request));
			}
			case DROPPED -> {
			}
			case LOST_ANSWER -> {
				Answer unused = act(request);
			}
			case CUT_ANSWER -> {
				Answer answer = act(request);
				byte[] body = answer.bytes();
				headers(exchange, request, answer);
				exchange.sendResponseHeaders(answer.status(), body.length + 1L);
				exchange.getResponseBody().write(body);
			}
			case GATEWAY_TIMEOUT -> {
				Answer unused = act(request);
				send(exchange, Answer.page(504));
			}
			case EMPTIED_ANSWER -> {
				Answer unused = act(request);
				send(exchange, new Answer(200, "text/plain", "", false));
			}
			case LATE -> send(exchange, Answer.page(504));
			case EMPTY_200 -> send(exchange, new Answer(200, "text/plain", "", false));
			case PAGE_200 -> send(exchange, Answer.page(200));
			case PAGE_403 -> send(exchange, Answer.page(403));
			case PAGE_404 -> send(exchange, Answer.page(404));
			case BAD_GATEWAY -> send(exchange, Answer.page(502));
			case UNAVAILABLE -> send(exchange, Answer.page(503));
			case REDIRECT -> {
				exchange.getResponseHeaders().set("Location", url() + "/login");
				send(exchange, Answer.page(302));
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

	private Answer act(Request request) {
		synchronized (this.effects) {
			return carryOut(request);
		}
	}

	private Answer carryOut(Request request) {
		String key = request.key();
		if (key == null) {
			this.withoutKey += request.isSafe() ? 0 : 1;
			return doOnce(request);
		}
		Known before = this.records.get(key);
		if (before != null) {
			boolean same = before.request() == null || before.request().isSameAs(request);
			return same ? before.answer().asReplay() : Answer.problem(422, "key-reused");
		}
		Answer answer = (request.cancels() != null) ? cancel(request, request.cancels()) : doOnce(request);
		this.records.put(key, new Known(request, answer));
		return answer;
	}

	private Answer doOnce(Request request) {
		Answer answer = this.answers.getOrDefault(request.path(), Answer.DONE);
		if (answer.status() < FIRST_REFUSAL && !request.isSafe()) {
			this.effects.add(request.path());
		}
		return answer;
	}

	/**
	 * The record of the action decides whether there is something to undo. An absent one
	 * becomes a tombstone.
	 */
	private Answer cancel(Request request, String cancels) {
		Matcher parts = CANCELS.matcher(cancels);
		if (!parts.matches()) {
			return Answer.problem(400, "key-malformed");
		}
		Known action = this.records.putIfAbsent(parts.group(1), new Known(null, Answer.problem(410, "cancelled")));
		if (action != null && action.answer().status() < FIRST_REFUSAL) {
			return doOnce(request);
		}
		return "done".equals(parts.group(2)) ? Answer.problem(422, "action-unknown") : new Answer(204, "", "", false);
	}

	private void send(HttpExchange exchange, Request request, Answer answer) throws IOException {
		headers(exchange, request, answer);
		send(exchange, answer);
	}

	private void headers(HttpExchange exchange, Request request, Answer answer) {
		String key = request.key();
		if (this.receipts && key != null) {
			exchange.getResponseHeaders().set(IdempotencyReceipt.HEADER, IdempotencyReceipt.of(key));
			if (answer.replay()) {
				exchange.getResponseHeaders().set("Idempotent-Replayed", "true");
			}
		}
		if (!answer.type().isEmpty()) {
			exchange.getResponseHeaders().set("Content-Type", answer.type());
		}
	}

	private static void send(HttpExchange exchange, Answer answer) throws IOException {
		byte[] body = answer.bytes();
		if (!answer.type().isEmpty()) {
			exchange.getResponseHeaders().set("Content-Type", answer.type());
		}
		exchange.sendResponseHeaders(answer.status(), (body.length > 0) ? body.length : -1);
		if (body.length > 0) {
			exchange.getResponseBody().write(body);
		}
	}

	/**
	 * What happens to a request.
	 */
	public enum Fault {

		/**
		 * Nothing: the service carries it out and answers.
		 */
		NONE,

		/**
		 * The service carries it out, and the connection is closed without an answer.
		 */
		LOST_ANSWER,

		/**
		 * The service carries it out, and the connection is closed within the answer.
		 */
		CUT_ANSWER,

		/**
		 * The service carries it out, and the gateway answers {@code 504}.
		 */
		GATEWAY_TIMEOUT,

		/**
		 * The service carries it out, and the gateway answers an empty {@code 200}.
		 */
		EMPTIED_ANSWER,

		/**
		 * The gateway sends it to the service twice, one after another.
		 */
		TWICE,

		/**
		 * The gateway answers {@code 504}, and the service gets it when the test calls
		 * {@link FakeParticipant#deliverLate}.
		 */
		LATE,

		/**
		 * The connection is closed, and the service does not get it.
		 */
		DROPPED,

		/**
		 * The gateway answers {@code 502}, and the service does not get it.
		 */
		BAD_GATEWAY,

		/**
		 * The gateway answers {@code 503}, and the service does not get it.
		 */
		UNAVAILABLE,

		/**
		 * The gateway redirects to a login page, and the service does not get it.
		 */
		REDIRECT,

		/**
		 * The gateway answers an empty {@code 200}, and the service does not get it.
		 */
		EMPTY_200,

		/**
		 * The gateway answers an HTML page with {@code 200}, and the service does not get
		 * it.
		 */
		PAGE_200,

		/**
		 * The gateway answers an HTML page with {@code 403}, and the service does not get
		 * it.
		 */
		PAGE_403,

		/**
		 * The gateway answers an HTML page with {@code 404}, and the service does not get
		 * it.
		 */
		PAGE_404,

		/**
		 * There is no answer, and the connection stays open until the fake is closed.
		 */
		HANG

	}

	/**
	 * A request.
	 *
	 * @param key its key, or {@code null}
	 * @param cancels what it cancels, or {@code null}
	 */
	private record Request(String method, String path, URI uri, String body, @Nullable String key,
			@Nullable String cancels) {

		static Request read(HttpExchange exchange) throws IOException {
			String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
			String key = exchange.getRequestHeaders().getFirst(KEY);
			String cancels = exchange.getRequestHeaders().getFirst("Idempotency-Cancels");
			URI uri = exchange.getRequestURI();
			return new Request(exchange.getRequestMethod(), uri.getPath(), uri, body,
					(key != null) ? key.replaceAll("^\"|\"$", "") : null, cancels);
		}

		boolean isSafe() {
			return List.of("GET", "HEAD", "OPTIONS").contains(this.method);
		}

		boolean isSameAs(Request other) {
			return identity().equals(other.identity());
		}

		private Map<String, @Nullable Object> identity() {
			Map<String, @Nullable Object> parts = new LinkedHashMap<>();
			parts.put("method", this.method);
			parts.put("uri", this.uri);
			parts.put("content", (this.cancels != null) ? this.cancels.replaceAll(";.*", "") : this.body);
			return parts;
		}

	}

	/**
	 * What the service knows of a key.
	 *
	 * @param request the request, or {@code null} for a tombstone
	 */
	private record Known(@Nullable Request request, Answer answer) {
	}

	/**
	 * An answer.
	 *
	 * @param type the type of the body, empty without one
	 * @param replay whether it was given before
	 */
	private record Answer(int status, String type, String body, boolean replay) {

		private static final Answer DONE = new Answer(200, "application/json", "{}", false);

		static Answer page(int status) {
			return new Answer(status, "text/html", PAGE, false);
		}

		static Answer problem(int status, String type) {
			return new Answer(status, "application/problem+json",
					"{\"type\":\"urn:problem:" + type + "\",\"status\":" + status + "}", false);
		}

		Answer asReplay() {
			return new Answer(this.status, this.type, this.body, true);
		}

		byte[] bytes() {
			return this.body.getBytes(StandardCharsets.UTF_8);
		}

	}

}
