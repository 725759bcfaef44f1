package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.web.transaction.TransactionApplication.SlowErrorPage;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two instances, with a Redis that is silent, unreachable or has lost its data: the
 * database decides.
 */
class WithoutRedisIntegrationTests {

	private static final String[] SETTINGS = { WebApplication.WITH_DATABASE,
			"spring.datasource.hikari.maximum-pool-size=4", "idempotent.redis.timeout=200ms",
			"server.tomcat.threads.max=120" };

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy proxy = StallingProxy.before(redis);

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication first;

	@SuppressWarnings("NullAway.Init")
	private static WebApplication second;

	private final String name = "work-" + UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		first = TransactionApplication.start(TransactionApplication.class, proxy, postgres, SETTINGS);
		second = TransactionApplication.start(TransactionApplication.class, proxy, postgres, SETTINGS);
	}

	@AfterAll
	static void stop() {
		first.close();
		second.close();
	}

	@BeforeEach
	void forgetEverything() {
		redis.connect().getConnection().serverCommands().flushAll();
	}

	@AfterEach
	void bringRedisBack() {
		proxy.resume();
		first.bean(WorkController.class).holdUpAt(null);
	}

	@Test
	void runsWorkAndReplaysItWhileRedisIsSilent() {
		proxy.hold();
		HttpResponse<byte[]> answer = post(first, "created", this.key);
		assertThat(answer.statusCode()).isEqualTo(201);
		for (WebApplication instance : List.of(first, second)) {
			HttpResponse<byte[]> retry = post(instance, "created", this.key);
			assertThat(retry.body()).isEqualTo(answer.body());
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		}
		assertThat(rows()).isOne();
	}

	@Test
	void leavesThePoolFreeDuringManyDuplicates() throws Exception {
		proxy.hold();
		Gate gate = closeGate();
		CompletableFuture<HttpResponse<byte[]>> running = postAsync(first, "gate", this.key);
		gate.awaitEntry();
		List<CompletableFuture<HttpResponse<byte[]>>> duplicates = IntStream.range(0, 100)
			.mapToObj((i) -> postAsync((i % 2 == 0) ? first : second, "gate", this.key))
			.toList();
		for (WebApplication instance : List.of(first, second)) {
			assertThat(post(instance, "created", UUID.randomUUID().toString()).statusCode()).isEqualTo(201);
		}
		assertThat(duplicates).allSatisfy((duplicate) -> {
			assertThat(duplicate.join().statusCode()).isEqualTo(409);
			assertThat(duplicate.join().headers().firstValue("Retry-After")).hasValue("1");
		});
		gate.open();
		assertThat(running.join().statusCode()).isEqualTo(201);
		assertThat(post(second, "gate", this.key).body()).isEqualTo(running.join().body());
		// Two other keys have written a row with this name.
		assertThat(rows()).isEqualTo(3);
	}

	@Test
	void runsOnceThoughRedisForgetsTheKeyMeanwhile() throws Exception {
		Gate gate = closeGate();
		CompletableFuture<HttpResponse<byte[]>> running = postAsync(first, "gate", this.key);
		gate.awaitEntry();
		redis.connect().getConnection().serverCommands().flushAll();
		for (WebApplication instance : List.of(first, second)) {
			assertThat(post(instance, "gate", this.key).statusCode()).isEqualTo(409);
		}
		gate.open();
		assertThat(running.join().statusCode()).isEqualTo(201);
		assertThat(post(second, "gate", this.key).body()).isEqualTo(running.join().body());
		assertThat(rows()).isOne();
	}

	@Test
	void updatesRedisFromTheDatabaseOnceItAnswers() {
		proxy.hold();
		post(first, "created", this.key);
		proxy.resume();
		await().untilAsserted(() -> {
			assertThat(post(second, "created", this.key).headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(redis.connect().getConnection().serverCommands().dbSize()).isPositive();
		});
		assertThat(rows()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/jobs/gate", "/serializable" })
	void answersADuplicateFromANewTransactionUnderSerializable(String path) throws Exception {
		proxy.hold();
		Gate gate = closeGate();
		CompletableFuture<HttpResponse<byte[]>> running = first.postAsync(path + "?name=" + this.name, "{}",
				"Idempotency-Key", this.key);
		gate.awaitEntry();
		assertThat(second.post(path + "?name=" + this.name, "{}", "Idempotency-Key", this.key).statusCode())
			.isEqualTo(409);
		gate.open();
		assertThat(running.join().statusCode()).isEqualTo(201);
		HttpResponse<byte[]> retry = second.post(path + "?name=" + this.name, "{}", "Idempotency-Key", this.key);
		assertThat(retry.body()).isEqualTo(running.join().body());
		assertThat(rows()).isOne();
	}

	@Test
	void givesAKeyOneResponseWhileItsRefusalIsStillWritten() throws Exception {
		Gate gate = new Gate();
		first.bean(SlowErrorPage.class).gate = gate;
		CompletableFuture<HttpResponse<byte[]>> refused = postAsync(first, "flaky", this.key);
		gate.awaitEntry();
		redis.connect().getConnection().serverCommands().flushAll();
		HttpResponse<byte[]> other = post(second, "flaky", this.key);
		assertThat(other.statusCode()).isEqualTo(201);
		gate.open();
		assertThat(refused.join().statusCode()).isEqualTo(201);
		assertThat(text(refused.join())).isEqualTo(text(other));
	}

	private static Gate closeGate() {
		Gate gate = new Gate();
		first.bean(WorkController.class).holdUpAt(gate);
		return gate;
	}

	private int rows() {
		return first.bean(Works.class).count(this.name);
	}

	private HttpResponse<byte[]> post(WebApplication instance, String ending, String key) {
		return postAsync(instance, ending, key).join();
	}

	private CompletableFuture<HttpResponse<byte[]>> postAsync(WebApplication instance, String ending, String key) {
		return instance.postAsync("/jobs/" + ending + "?name=" + this.name, "{}", "Idempotency-Key", key);
	}

}
