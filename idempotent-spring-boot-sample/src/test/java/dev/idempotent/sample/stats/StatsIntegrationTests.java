package dev.idempotent.sample.stats;

import java.time.Duration;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class StatsIntegrationTests {

	private final String user = ShopClient.newUser();

	private final ShopClient shop;

	private final JdbcClient jdbc;

	StatsIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@Test
	void countsOrdersPaymentsAndEvents() {
		Stats before = statsOnceAllIsHandled();
		String orderId = this.shop.placeOrder(this.user);
		pay(orderId, "declined");
		pay(orderId, "card");
		this.shop.post("/api/feedback", """
				{"userId": "%s", "text": "Lovely coffee"}
				""".formatted(this.user));
		assertThat(statsOnceAllIsHandled()).isEqualTo(
				new Stats(before.orders() + 1, before.payments() + 1, before.charges() + 1, before.feedback() + 1,
						before.eventsDelivered() + 2, before.eventsHandled() + 2, before.duplicatesDropped()));
	}

	private void pay(String orderId, String method) {
		this.shop.post("/api/orders/" + orderId + "/payment", "{\"method\": \"%s\"}".formatted(method),
				"Idempotency-Key", ShopClient.newKey());
	}

	/**
	 * There is one event for each order and for each move of one.
	 */
	private Stats statsOnceAllIsHandled() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(this::stats, (stats) -> stats.eventsHandled() == stats.orders() + moves());
	}

	private long moves() {
		return this.jdbc.sql("select coalesce(sum(version), 0) from orders").query(Long.class).single();
	}

	private Stats stats() {
		String json = this.shop.get("/api/stats").body();
		return new Stats(count(json, "orders"), count(json, "payments"), count(json, "charges"),
				count(json, "feedback"), count(json, "eventsDelivered"), count(json, "eventsHandled"),
				count(json, "duplicatesDropped"));
	}

	private static long count(String json, String name) {
		return JsonPath.<Integer>read(json, "$." + name);
	}

}
