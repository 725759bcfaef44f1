package dev.idempotent.sample.chaos;

import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
@TestPropertySource(properties = "idempotent.namespace=shop-with-outages")
class RedisChaosIntegrationTests {

	private final String user = ShopClient.newUser();

	private final String key = ShopClient.newKey();

	private final ShopClient shop;

	private final StringRedisTemplate redis;

	RedisChaosIntegrationTests(@LocalServerPort int port, @Autowired StringRedisTemplate redis) {
		this.shop = new ShopClient(port);
		this.redis = redis;
	}

	@AfterEach
	void restore() {
		chaos("restore");
		awaitStatus("/api/orders/lease", 201);
	}

	@Test
	void cutsTheStoreOffAndRestoresItWithItsData() {
		HttpResponse<String> first = order("/api/orders/lease", this.key);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(isAvailable(chaos("cut"))).isFalse();
		assertThat(isAvailable(this.shop.get("/api/chaos/redis"))).isFalse();
		assertThat(order("/api/orders/lease", this.key).statusCode()).isEqualTo(503);
		assertThat(isAvailable(chaos("restore"))).isTrue();
		awaitStatus("/api/orders/lease", 201);
		HttpResponse<String> retry = order("/api/orders/lease", this.key);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.body()).isEqualTo(first.body());
	}

	@Test
	void keepsTheEventsOfAnOutageUntilRedisIsBack() {
		chaos("cut");
		HttpResponse<String> placed = order("/api/orders", this.key);
		assertThat(placed.statusCode()).isEqualTo(201);
		String events = "/api/events?orderId=" + JsonPath.<String>read(placed.body(), "$.orderId");
		assertThat(this.shop.get(events).body()).isEqualTo("[]");
		chaos("restore");
		Awaitility.await()
			.atMost(1, TimeUnit.MINUTES)
			.untilAsserted(
					() -> assertThat(JsonPath.<Integer>read(this.shop.get(events).body(), "$.length()")).isOne());
	}

	@Test
	void wipesAllButStreams() {
		HttpResponse<String> first = order("/api/orders", this.key);
		order("/api/orders/lease", ShopClient.newKey());
		Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> this.redis.hasKey("orders"));
		int before = wipes(this.shop.get("/api/chaos/redis"));
		assertThat(wipes(chaos("wipe"))).isEqualTo(before + 1);
		// A slow run may announce itself again.
		assertThat(this.redis.keys("*")).filteredOn((name) -> !name.endsWith("running")).containsExactly("orders");
		HttpResponse<String> retry = order("/api/orders", this.key);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.body()).isEqualTo(first.body());
	}

	@ParameterizedTest
	@ValueSource(strings = { "{}", "{\"action\": null}", "{\"action\": \"CUT\"}", "{\"action\": \"explode\"}" })
	void refusesAnUnknownAction(String json) {
		HttpResponse<String> refused = this.shop.post("/api/chaos/redis", json);
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(refused.body()).contains("cut, restore or wipe");
		assertThat(isAvailable(this.shop.get("/api/chaos/redis"))).isTrue();
	}

	private HttpResponse<String> chaos(String action) {
		HttpResponse<String> answer = this.shop.post("/api/chaos/redis", "{\"action\": \"" + action + "\"}");
		assertThat(answer.statusCode()).isEqualTo(200);
		return answer;
	}

	private HttpResponse<String> order(String path, String idempotencyKey) {
		return this.shop.post(path, ShopClient.orderOf(this.user, 1), "Idempotency-Key", idempotencyKey);
	}

	private void awaitStatus(String path, int status) {
		Awaitility.await()
			.atMost(1, TimeUnit.MINUTES)
			.until(() -> order(path, ShopClient.newKey()).statusCode() == status);
	}

	private static boolean isAvailable(HttpResponse<String> state) {
		return JsonPath.<Boolean>read(state.body(), "$.available");
	}

	private static int wipes(HttpResponse<String> state) {
		return JsonPath.<Integer>read(state.body(), "$.wipes");
	}

}
