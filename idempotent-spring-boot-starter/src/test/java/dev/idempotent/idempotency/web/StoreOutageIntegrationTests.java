package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of requests while Redis is away, and after it has come back.
 */
class StoreOutageIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final String key = UUID.randomUUID().toString();

	@AfterEach
	void restart() {
		redis.start();
	}

	@Test
	void refusesRequestsUntilTheStoreAnswersAgain() {
		try (WebApplication application = start("reject")) {
			redis.stop();
			HttpResponse<byte[]> refused = application.post("/answers/200", "", KEY, this.key);
			assertThat(refused.statusCode()).isEqualTo(503);
			assertThat(refused.headers().firstValueAsLong("Retry-After")).hasValue(1);
			assertThat(text(refused)).contains("urn:problem-type:idempotency:store-unreachable");
			assertThat(application.bean(Operations.class).runs()).isZero();

			redis.start();
			await().untilAsserted(
					() -> assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1"));
			assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");
		}
	}

	@Test
	void startsAndRefusesWhenTheStoreWasNeverThere() {
		redis.stop();
		try (WebApplication application = start("reject")) {
			assertThat(application.post("/answers/200", "", KEY, this.key).statusCode()).isEqualTo(503);
			redis.start();
			await().untilAsserted(
					() -> assertThat(application.post("/answers/200", "", KEY, this.key).statusCode()).isEqualTo(200));
		}
	}

	@Test
	void runsUnprotectedIfToldToProceedAndStoresTheAnswerLater() {
		try (WebApplication application = start("proceed")) {
			redis.stop();
			assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");

			redis.start();
			await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
				HttpResponse<byte[]> retry = application.post("/answers/200", "{}", KEY, this.key);
				assertThat(retry.statusCode()).isEqualTo(422);
			});
			assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");
		}
	}

	@Test
	void answersTheClientAndStoresInTheBackgroundWhenTheStoreIsLostDuringTheRun() throws Exception {
		try (WebApplication application = start("reject")) {
			Operations operations = application.bean(Operations.class);
			Gate gate = operations.closeGate();
			CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/held", "", KEY, this.key);
			gate.awaitEntry();
			redis.stop();
			gate.open();
			assertThat(text(first.get())).isEqualTo("through");

			redis.start();
			await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
				HttpResponse<byte[]> mismatch = application.post("/held", "other", KEY, this.key);
				assertThat(mismatch.statusCode()).isEqualTo(422);
			});
			assertThat(text(application.post("/held", "", KEY, this.key))).isEqualTo("through");
			assertThat(operations.runs()).isOne();
		}
	}

	private static WebApplication start(String onStoreFailure) {
		return WebApplication.start(OperationsApplication.class, redis,
				"idempotent.on-store-failure=" + onStoreFailure);
	}

}
