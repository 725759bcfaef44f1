package dev.idempotent.sample.stats;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class StatsIntegrationTests {

	private final String user = ShopClient.newUser();

	private final ShopClient shop;

	StatsIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
	}

	@Test
	void countsWhatHasHappened() {
		Stats before = stats();
		String orderId = this.shop.placeOrder(this.user);
		pay(orderId, "declined");
		pay(orderId, "card");
		this.shop.post("/api/feedback", """
				{"userId": "%s", "text": "Lovely coffee"}
				""".formatted(this.user));
		assertThat(stats()).isEqualTo(
				new Stats(before.orders() + 1, before.payments() + 1, before.charges() + 1, before.feedback() + 1));
	}

	private void pay(String orderId, String method) {
		this.shop.post("/api/orders/" + orderId + "/payment", "{\"method\": \"%s\"}".formatted(method),
				"Idempotency-Key", ShopClient.newKey());
	}

	private Stats stats() {
		String json = this.shop.get("/api/stats").body();
		return new Stats(count(json, "orders"), count(json, "payments"), count(json, "charges"),
				count(json, "feedback"));
	}

	private static long count(String json, String name) {
		return JsonPath.<Integer>read(json, "$." + name);
	}

}
