package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Equal requests at the same time, over real HTTP.
 */
class ConcurrentRequestsIntegrationTests {

	private static final int CLIENTS = 200;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void runsOneOf200RequestsThatStartAtOnce() throws Exception {
		assertOneRunPerKey(5, (random) -> 0);
	}

	/**
	 * A duplicate that starts while the first run ends must meet either its claim or its
	 * answer: a gap between the two would let it run again.
	 */
	@Tag("long")
	@Test
	void runsOneOf200RequestsThatStartWhileAShortRunEnds() throws Exception {
		assertOneRunPerKey(30, (random) -> random.nextInt(8_000_000));
	}

	private static void assertOneRunPerKey(int keys, Stagger stagger) throws Exception {
		ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
		try (WebApplication application = WebApplication.start(OperationsApplication.class, redis,
				"server.tomcat.threads.max=" + CLIENTS)) {
			Operations operations = application.bean(Operations.class);
			for (int i = 0; i < keys; i++) {
				operations.reset();
				List<HttpResponse<byte[]>> responses = postAtOnce(clients, application, stagger);
				assertThat(operations.runs()).as("runs of key %d", i).isOne();
				assertOneAnswer(responses);
			}
		}
		finally {
			clients.shutdownNow();
		}
	}

	private static List<HttpResponse<byte[]>> postAtOnce(ExecutorService clients, WebApplication application,
			Stagger stagger) throws Exception {
		String key = UUID.randomUUID().toString();
		CyclicBarrier start = new CyclicBarrier(CLIENTS);
		Callable<HttpResponse<byte[]>> client = () -> {
			start.await();
			LockSupport.parkNanos(stagger.nanos(new Random()));
			return application.post("/short", "{}", "Idempotency-Key", key);
		};
		List<HttpResponse<byte[]>> responses = new ArrayList<>();
		for (Future<HttpResponse<byte[]>> response : clients.invokeAll(Collections.nCopies(CLIENTS, client))) {
			responses.add(response.get());
		}
		return responses;
	}

	private static void assertOneAnswer(List<HttpResponse<byte[]>> responses) {
		assertThat(responses).allSatisfy((response) -> assertThat(response.statusCode()).isIn(200, 409));
		assertThat(responses.stream()
			.filter((response) -> response.statusCode() == 200)
			.map(WebApplication::text)
			.collect(Collectors.toSet())).hasSize(1);
		assertThat(responses)
			.filteredOn((response) -> response.statusCode() == 200
					&& response.headers().firstValue("Idempotent-Replayed").isEmpty())
			.hasSize(1);
	}

	private interface Stagger {

		int nanos(Random random);

	}

	/**
	 * Duplicates of an operation under {@code OnPending.WAIT}.
	 */
	@Nested
	class DuplicatesThatWait {

		private static final String KEY = "Idempotency-Key";

		@SuppressWarnings("NullAway.Init")
		private static WebApplication application;

		@SuppressWarnings("NullAway.Init")
		private static WebApplication other;

		private final String key = UUID.randomUUID().toString();

		@BeforeAll
		static void startBoth() {
			application = WebApplication.start(OperationsApplication.class, redis);
			other = WebApplication.start(OperationsApplication.class, redis);
		}

		@AfterAll
		static void stop() {
			application.close();
			other.close();
		}

		@Test
		void receiveTheResponseOfTheFirstRequest() throws Exception {
			Gate gate = application.bean(Operations.class).closeGate();
			CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/awaited", "", KEY, this.key);
			gate.awaitEntry();
			List<CompletableFuture<HttpResponse<byte[]>>> duplicates = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				duplicates.add(application.postAsync("/awaited", "", KEY, this.key));
				duplicates.add(other.postAsync("/awaited", "", KEY, this.key));
			}
			gate.open();

			assertThat(text(first.join())).isEqualTo("through");
			assertThat(duplicates).allSatisfy((duplicate) -> {
				assertThat(text(duplicate.join())).isEqualTo("through");
				assertThat(duplicate.join().headers().firstValue("Idempotent-Replayed")).hasValue("true");
			});
			assertThat(application.bean(Operations.class).runs()).isOne();
			assertThat(other.bean(Operations.class).runs()).isZero();
		}

		@Test
		void receive409AfterTheTimeout() throws Exception {
			try (WebApplication impatient = WebApplication.start(OperationsApplication.class, redis,
					"idempotent.web.wait-timeout=100ms")) {
				Gate gate = impatient.bean(Operations.class).closeGate();
				CompletableFuture<HttpResponse<byte[]>> first = impatient.postAsync("/awaited", "", KEY, this.key);
				gate.awaitEntry();
				assertThat(impatient.post("/awaited", "", KEY, this.key).statusCode()).isEqualTo(409);
				gate.open();
				assertThat(first.join().statusCode()).isEqualTo(200);
			}
		}

		@Test
		void receive422AtOnceForTheKeyOfAnotherRequest() throws Exception {
			Gate gate = application.bean(Operations.class).closeGate();
			CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/awaited", "", KEY, this.key);
			gate.awaitEntry();
			assertThat(application.post("/awaited", "other", KEY, this.key).statusCode()).isEqualTo(422);
			gate.open();
			assertThat(first.join().statusCode()).isEqualTo(200);
		}

		@Test
		void runIfTheFirstRequestHasFailed() throws Exception {
			Operations operations = application.bean(Operations.class);
			Gate gate = operations.closeGate();
			CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/awaited-failure", "", KEY,
					this.key);
			gate.awaitEntry();
			CompletableFuture<HttpResponse<byte[]>> duplicate = application.postAsync("/awaited-failure", "", KEY,
					this.key);
			gate.open();
			assertThat(List.of(first.join().statusCode(), duplicate.join().statusCode())).containsOnly(503);
			assertThat(operations.runs()).isEqualTo(2);
		}

	}

}
