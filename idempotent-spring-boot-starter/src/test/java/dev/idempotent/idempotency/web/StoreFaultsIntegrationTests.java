package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.redis.RedisValues;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests during and after faults and outages of Redis or of the network.
 */
@Timeout(180)
class StoreFaultsIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	private static final String TIMEOUT = "idempotent.redis.timeout=5s";

	/**
	 * Well above {@code idempotent.redis.timeout}, well below Lettuce's default of 1 min.
	 */
	private static final Duration BRIEFLY = Duration.ofSeconds(40);

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy proxy = StallingProxy.before(redis);

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(OperationsApplication.class, proxy, TIMEOUT));

	private final String key = UUID.randomUUID().toString();

	@BeforeEach
	void serve() {
		redis.start();
		proxy.resume();
		await().until(() -> post("/answers/200", UUID.randomUUID().toString()).statusCode() == 200);
		application.bean(Operations.class).reset();
	}

	@Tag("long")
	@Test
	void refusesWithinTheTimeoutWhileRedisIsSilentAndServesTheRetry() {
		proxy.hold();
		assertThat(timed(() -> assertRefused(post("/answers/200", this.key)))).isLessThan(BRIEFLY);
		proxy.resume();
		awaitAnswer("/answers/200", "run 1");
		assertThat(post("/answers/200", this.key).headers().firstValue("Idempotent-Replayed")).isPresent();
	}

	@Test
	void recoversFromASilentlyDeadConnection() {
		proxy.forgetConnections();
		assertThat(timed(() -> awaitAnswer("/answers/200", "run 1"))).isLessThan(BRIEFLY);
	}

	@Test
	void leavesNoOrphanedClaimWhenItsReplyIsLost() {
		proxy.dropNextReply();
		assertRefused(post("/answers/200", this.key));
		assertThat(proxy.hasDropped()).isTrue();
		awaitAnswer("/answers/200", "run 1");
	}

	@Test
	void replaysTheFirstResponseWhenTheReplyToACompletionIsLost() throws Exception {
		Gate gate = application.bean(Operations.class).closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/held", "", KEY, this.key);
		gate.awaitEntry();
		proxy.dropNextReply();
		gate.open();
		assertThat(text(first.get())).isEqualTo("through");
		assertThat(proxy.hasDropped()).isTrue();
		awaitAnswer("/held", "through");
		assertThat(application.bean(Operations.class).runs()).isOne();
	}

	@Test
	void runsOnceWhenTheConnectionIsResetInTheMiddle() throws Exception {
		Gate gate = application.bean(Operations.class).closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/held", "", KEY, this.key);
		gate.awaitEntry();
		proxy.reset();
		gate.open();
		assertThat(text(first.get())).isEqualTo("through");
		awaitAnswer("/held", "through");
		assertThat(application.bean(Operations.class).runs()).isOne();
	}

	@Test
	void runsOnceWhenRedisIsSilentFromTheRunToItsCompletion() throws Exception {
		Gate gate = application.bean(Operations.class).closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/held", "", KEY, this.key);
		gate.awaitEntry();
		proxy.hold();
		gate.open();
		assertThat(timed(() -> assertThat(text(first.join())).isEqualTo("through"))).isLessThan(BRIEFLY);
		proxy.resume();
		awaitAnswer("/held", "through");
		assertThat(application.bean(Operations.class).runs()).isOne();
	}

	@Test
	void refusesWhileRedisIsLoading() {
		proxy.answer("-LOADING Redis is loading the dataset in memory");
		assertRefused(post("/answers/200", this.key));
		proxy.resume();
		awaitAnswer("/answers/200", "run 1");
	}

	@Test
	void refusesWhileRedisIsAReadOnlyReplica() {
		try (RedisConnection connection = redis.connect().getConnection()) {
			connection.serverCommands().replicaOf("127.0.0.1", proxy.port());
			assertRefused(post("/answers/200", this.key));
			connection.serverCommands().replicaOfNoOne();
		}
		awaitAnswer("/answers/200", "run 1");
	}

	@Test
	void reloadsScriptsThatRedisHasLost() {
		try (RedisConnection connection = redis.connect().getConnection()) {
			connection.scriptingCommands().scriptFlush();
		}
		assertThat(text(served(this.key))).isEqualTo("run 1");
	}

	@Test
	void refusesAndChangesNothingIfAKeyHasForeignData() {
		redis.flush();
		StringRedisTemplate template = new StringRedisTemplate(redis.connect());
		assertThat(served(this.key).statusCode()).isEqualTo(200);
		String name = template.keys("idempotency:*[0-9a-f]").iterator().next();
		template.opsForValue().set(name, "foreign");
		assertProblem(served(this.key), "store-failed");
		assertThat(template.opsForValue().get(name)).isEqualTo("foreign");
	}

	@Test
	void refusesDuringAnOutageAndRunsEachRequestOnceAfterIt() throws Exception {
		redis.stop();
		List<HttpResponse<byte[]>> refused = ConcurrentRuns.of(50, (number) -> post("/answers/200", this.key + number));
		assertThat(refused).allSatisfy(StoreFaultsIntegrationTests::assertRefused);
		redis.start();
		awaitAnswer("/answers/200", "run 1");
		List<HttpResponse<byte[]>> served = ConcurrentRuns.of(50, (number) -> served(this.key + number));
		assertThat(served).extracting(HttpResponse::statusCode).containsOnly(200);
		assertThat(application.bean(Operations.class).runs()).isEqualTo(51);
	}

	@Test
	void refusesConcurrentRequestsWithinOneTimeoutIfRedisNeverAnswered() throws Exception {
		proxy.hold();
		try (WebApplication cold = WebApplication.start(OperationsApplication.class, proxy, TIMEOUT)) {
			List<Duration> waits = ConcurrentRuns.of(20,
					(number) -> timed(() -> assertRefused(cold.post("/answers/200", "", KEY, this.key + number))));
			assertThat(waits).allSatisfy((wait) -> assertThat(wait).isLessThan(BRIEFLY));
			proxy.resume();
			await()
				.untilAsserted(() -> assertThat(text(cold.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1"));
		}
	}

	@Test
	void startsAndRefusesRequestsWithoutAStore() {
		redis.stop();
		try (WebApplication application = start("reject")) {
			assertThat(application.post("/answers/200", "", KEY, this.key).statusCode()).isEqualTo(503);
			redis.start();
			await().untilAsserted(
					() -> assertThat(application.post("/answers/200", "", KEY, this.key).statusCode()).isEqualTo(200));
		}
	}

	@Test
	void runsUnprotectedUnderProceedAndStoresTheResponseLater() {
		try (WebApplication application = start("proceed")) {
			redis.stop();
			assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");

			redis.start();
			RedisValues values = new RedisValues(redis.connect());
			await().until(() -> values.states().equals(List.of(StoredKey.State.COMPLETED)));
			assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");
		}
	}

	private HttpResponse<byte[]> post(String path, String key) {
		return application.post(path, "", KEY, key);
	}

	/**
	 * The first response that does not say that Redis was too slow.
	 */
	private HttpResponse<byte[]> served(String key) {
		return await().until(() -> post("/answers/200", key),
				(response) -> !text(response).contains("store-unreachable"));
	}

	private void awaitAnswer(String path, String body) {
		await().untilAsserted(() -> assertThat(text(post(path, this.key))).isEqualTo(body));
	}

	private static void assertRefused(HttpResponse<byte[]> response) {
		assertProblem(response, "store-unreachable");
	}

	private static Duration timed(Runnable step) {
		long start = System.nanoTime();
		step.run();
		return Duration.ofNanos(System.nanoTime() - start);
	}

	private static WebApplication start(String onStoreFailure) {
		return WebApplication.start(OperationsApplication.class, redis,
				"idempotent.on-store-failure=" + onStoreFailure);
	}

}
