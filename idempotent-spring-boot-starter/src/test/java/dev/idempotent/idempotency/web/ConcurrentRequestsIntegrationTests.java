package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many equal requests at the same time, over real HTTP.
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

}
