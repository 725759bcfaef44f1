package dev.idempotent.saga.crash;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.testing.Tally;
import org.jspecify.annotations.Nullable;

/**
 * Calls and starts sagas, and repeats each call on any instance until it has the final
 * answer.
 */
final class SagaClient {

	/**
	 * Most succeed.
	 */
	private static final List<String> PLANS = List.of("succeeds", "succeeds", "succeeds", "succeeds", "succeeds",
			"refuses-order", "refuses-hold", "refuses-charge", "refuses-notify", "throws",
			ChildApplication.Command.LATE_HOLD);

	private static final Duration TIMEOUT = Duration.ofSeconds(6);

	private final HttpClient client = HttpClient.newHttpClient();

	private final Queue<PlacedSaga> placed = new ConcurrentLinkedQueue<>();

	private final CountDownLatch over;

	private final CountDownLatch givenUp;

	private final SagaSite site;

	private final Tally tally;

	/**
	 * Creates a client.
	 * @param over ends new sagas
	 * @param givenUp ends all waiting
	 */
	SagaClient(CountDownLatch over, CountDownLatch givenUp, SagaSite site, Tally tally) {
		this.over = over;
		this.givenUp = givenUp;
		this.site = site;
		this.tally = tally;
	}

	/**
	 * All sagas that were called or started.
	 */
	Collection<PlacedSaga> placed() {
		return this.placed;
	}

	/**
	 * Places one saga after the other until the run is over.
	 */
	void place(String prefix) {
		for (int i = 1; this.over.getCount() > 0; i++) {
			PlacedSaga saga = new PlacedSaga(prefix + "-" + i, SagaSite.any(PLANS), ConcurrentHashMap.newKeySet());
			this.placed.add(saga);
			if (ThreadLocalRandom.current().nextInt(3) == 0) {
				start(saga);
			}
			int calls = ThreadLocalRandom.current().nextInt(1, 3);
			for (int call = 0; call < calls; call++) {
				awaitEnd(saga);
			}
		}
	}

	private void start(PlacedSaga saga) {
		String id = null;
		while (id == null) {
			HttpResponse<String> response = post("/started-sagas", saga);
			id = (response != null && response.statusCode() == 202) ? response.body() : null;
			if (id == null && !pause()) {
				return;
			}
		}
		this.tally.count("answer started");
		// The call that comes next often finds it open.
		while (ThreadLocalRandom.current().nextInt(4) > 0 && pause()) {
			HttpResponse<String> found = exchange("/sagas/" + id, HttpRequest.newBuilder().GET());
			if (found != null && found.statusCode() == 200 && !SagaStatus.valueOf(found.body()).isOpen()) {
				saga.answers().add(found.body());
				return;
			}
		}
	}

	private void awaitEnd(PlacedSaga saga) {
		do {
			HttpResponse<String> response = post("/sagas", saga);
			this.tally.count("answer " + ((response != null) ? response.statusCode() : "none"));
			if (response != null && response.statusCode() == 200) {
				saga.answers().add(response.body());
				return;
			}
		}
		while (pause());
	}

	private @Nullable HttpResponse<String> post(String path, PlacedSaga saga) {
		String json = "{\"id\":\"%s\",\"plan\":\"%s\",\"ref\":\"\"}".formatted(saga.id(), saga.plan());
		return exchange(path,
				HttpRequest.newBuilder()
					.header("Content-Type", "application/json")
					.POST(BodyPublishers.ofString(json)));
	}

	private @Nullable HttpResponse<String> exchange(String path, HttpRequest.Builder request) {
		try {
			return this.client.send(
					request.uri(SagaSite.any(this.site.orchestrators()).uri(path)).timeout(TIMEOUT).build(),
					BodyHandlers.ofString());
		}
		catch (IOException ex) {
			return null;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return null;
		}
	}

	private boolean pause() {
		try {
			return !this.givenUp.await(ThreadLocalRandom.current().nextInt(20, 300), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/**
	 * A saga as its caller sees it.
	 *
	 * @param id its key
	 * @param plan how it ends if there is no fault
	 * @param answers the different final answers
	 */
	record PlacedSaga(String id, String plan, Set<String> answers) {
	}

}
