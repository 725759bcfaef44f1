package dev.idempotent.sample.rush;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

/**
 * Sends requests to instances of the shop, each to a random one.
 */
final class ShopHttp implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration PERSISTENCE = Duration.ofMinutes(1);

	private final HttpClient client = HttpClient.newBuilder()
		.version(HttpClient.Version.HTTP_1_1)
		.connectTimeout(Duration.ofSeconds(1))
		.build();

	private final List<URI> instances;

	private volatile boolean closed;

	ShopHttp(List<URI> instances) {
		this.instances = List.copyOf(instances);
	}

	CompletableFuture<Answer> get(String path) {
		return send(request(path));
	}

	CompletableFuture<Answer> delete(String path) {
		return send(request(path).DELETE());
	}

	/**
	 * Sends a {@code POST}.
	 * @param chaos the header {@code X-Chaos}, or {@code null}
	 */
	CompletableFuture<Answer> post(Ask ask, @Nullable String chaos) {
		HttpRequest.Builder request = request(ask.path()).header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(ask.json()));
		if (ask.key() != null) {
			request.header("Idempotency-Key", ask.key());
		}
		if (chaos != null) {
			request.header("X-Chaos", chaos);
		}
		return send(request);
	}

	/**
	 * Repeats a request until there is a final answer, or for a minute.
	 * @param attempts sends the request once or several times; is given the number of the
	 * attempt
	 * @param notes is given each answer
	 * @return the last final answer, or the last one if there is none
	 */
	Answer insist(IntFunction<List<CompletableFuture<Answer>>> attempts, Consumer<Answer> notes) {
		long deadline = System.nanoTime() + PERSISTENCE.toNanos();
		for (int attempt = 0;; attempt++) {
			List<Answer> answers = attempts.apply(attempt).stream().map(CompletableFuture::join).toList();
			answers.forEach(notes);
			Answer last = answers.stream().filter(Answer::isFinal).findFirst().orElse(answers.get(0));
			if (last.isFinal() || System.nanoTime() > deadline || this.closed) {
				return last;
			}
			rest(last, attempt);
		}
	}

	/**
	 * Repeats a {@code POST} until there is a final answer, or for a minute.
	 */
	Answer insist(Ask ask) {
		return insist((attempt) -> List.of(post(ask, null)), (answer) -> {
		});
	}

	private static void rest(Answer answer, int attempt) {
		long backoff = ThreadLocalRandom.current().nextLong(20, 100L * Math.min(attempt + 1, 10));
		try {
			TimeUnit.MILLISECONDS.sleep(answer.retryAfter().toMillis() + backoff);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted between two attempts", ex);
		}
	}

	private HttpRequest.Builder request(String path) {
		URI instance = this.instances.get(ThreadLocalRandom.current().nextInt(this.instances.size()));
		return HttpRequest.newBuilder(instance.resolve(path)).timeout(TIMEOUT);
	}

	private CompletableFuture<Answer> send(HttpRequest.Builder request) {
		long start = System.nanoTime();
		return this.client.sendAsync(request.build(), BodyHandlers.ofString()).handle((response, failure) -> {
			Duration took = Duration.ofNanos(System.nanoTime() - start);
			return (failure == null) ? Answer.of(response, took) : Answer.none(took);
		});
	}

	/**
	 * Ends all repetitions.
	 */
	@Override
	public void close() {
		this.closed = true;
	}

}
