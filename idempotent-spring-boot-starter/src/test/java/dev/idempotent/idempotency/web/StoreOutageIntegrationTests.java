package dev.idempotent.idempotency.web;

import java.util.List;
import java.util.UUID;

import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.redis.RedisValues;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests during an outage of Redis, and after it.
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

	private static WebApplication start(String onStoreFailure) {
		return WebApplication.start(OperationsApplication.class, redis,
				"idempotent.on-store-failure=" + onStoreFailure);
	}

}
