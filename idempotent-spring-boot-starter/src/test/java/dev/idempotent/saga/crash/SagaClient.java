package dev.idempotent.saga.crash;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.crash.ChildApplication.Command;
import dev.idempotent.saga.crash.OrchestratorApplication.Checkout;
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
			"refuses-order", "refuses-hold", "refuses-charge", "refuses-notify", "throws", Command.LATE_HOLD,
			Command.WAITS, Command.WAITS, Command.WAITS, Command.WAITS, Command.WAITS_IN_VAIN);

	private static final Duration TIMEOUT = Duration.ofSeconds(6);

	private final HttpClient client = HttpClient.newHttpClient();

	private final ExecutorService messages = Executors.newCachedThreadPool(daemons());

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
			PlacedSaga saga = new PlacedSaga(prefix + "-" + i, SagaSite.any(PLANS), ConcurrentHashMap.newKeySet(),
					ConcurrentHashMap.newKeySet());
			this.placed.add(saga);
			List<Future<?>> sent = sendMessages(saga);
			if (ThreadLocalRandom.current().nextInt(3) == 0) {
				start(saga);
			}
			int calls = ThreadLocalRandom.current().nextInt(1, 3);
			for (int call = 0; call < calls; call++) {
				awaitEnd(saga);
			}
			sent.forEach(SagaClient::join);
		}
	}

	/**
	 * Sends signals, before, when and after the saga waits for them, some of them twice,
	 * and cancels some sagas.
	 */
	private List<Future<?>> sendMessages(PlacedSaga saga) {
		List<Future<?>> sent = new ArrayList<>();
		if (saga.plan().equals(Command.WAITS)) {
			int senders = ThreadLocalRandom.current().nextInt(1, 3);
			for (int sender = 0; sender < senders; sender++) {
				String value = "value " + ThreadLocalRandom.current().nextInt(2);
				sent.add(send(saga, "/signals", Checkout.PAID, value));
			}
			if (ThreadLocalRandom.current().nextBoolean()) {
				sent.add(send(saga, "/signals", Checkout.APPROVED, ""));
			}
		}
		if (ThreadLocalRandom.current().nextInt(8) == 0) {
			sent.add(send(saga, "/cancellations", "", ""));
		}
		return sent;
	}

	/**
	 * Sends a message under one key until it is answered: at once, so that the saga often
	 * does not exist yet, some time later, or when the saga waits.
	 */
	private Future<?> send(PlacedSaga saga, String path, String name, String value) {
		String json = "{\"saga\":\"%s\",\"name\":\"%s\",\"value\":\"%s\"}".formatted(saga.id(), name, value);
		String key = UUID.randomUUID().toString();
		int moment = ThreadLocalRandom.current().nextInt(4);
		return this.messages.submit(() -> {
			boolean sending = moment == 0 || (moment == 1 && pause(ThreadLocalRandom.current().nextInt(4_000)))
					|| (moment > 1 && awaitWait(saga, name));
			while (sending && !isAnswered(path, json, key, name)) {
				sending = pause();
			}
		});
	}

	/**
	 * Waits until a call has been told that the saga waits, or has a final answer.
	 */
	private boolean awaitWait(PlacedSaga saga, String name) {
		while (saga.answers().isEmpty() && (name.isEmpty() ? saga.waits().isEmpty() : !saga.waits().contains(name))) {
			if (!pause()) {
				return false;
			}
		}
		return true;
	}

	private boolean isAnswered(String path, String json, String key, String name) {
		HttpResponse<String> response = exchange(path,
				HttpRequest.newBuilder()
					.header("Content-Type", "application/json")
					.header("Idempotency-Key", key)
					.POST(BodyPublishers.ofString(json)));
		if (response == null || response.statusCode() != 200) {
			return false;
		}
		this.tally.count("message " + (name.isEmpty() ? "cancel" : name) + " " + response.body());
		return true;
	}

	private static void join(Future<?> message) {
		try {
			Object unused = message.get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static ThreadFactory daemons() {
		return (task) -> {
			Thread thread = new Thread(task, "crash-run-message");
			thread.setDaemon(true);
			return thread;
		};
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
			if (response != null && response.statusCode() == 202) {
				saga.waits().add(response.body());
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
		return pause(ThreadLocalRandom.current().nextInt(20, 300));
	}

	private boolean pause(int millis) {
		try {
			return !this.givenUp.await(millis, TimeUnit.MILLISECONDS);
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
	 * @param waits the waits that its caller was told of
	 */
	record PlacedSaga(String id, String plan, Set<String> answers, Set<String> waits) {
	}

}
