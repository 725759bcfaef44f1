package dev.idempotent.sample.shipment;

import java.time.Duration;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ShipmentIntegrationTests {

	private final ShopClient shop;

	private final JdbcClient jdbc;

	private final String user = ShopClient.newUser();

	private String orderId = "";

	ShipmentIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@BeforeEach
	void payOrder() {
		this.orderId = this.shop.placeOrder(this.user);
		assertThat(post("payment")).isEqualTo(200);
	}

	@Test
	void isHandledOnce() {
		assertThat(post("shipment")).isEqualTo(200);
		awaitHandled();
		assertThat(handled()).isEqualTo("{\"packAttempts\":1,\"parcels\":1,\"rewardAttempts\":1}");
		assertThat(credits()).isOne();
	}

	@Test
	void takesEffectOnceIfItsHandlersFailTwice() {
		assertThat(post("shipment", "X-Chaos", "fail=handlers")).isEqualTo(200);
		awaitHandled();
		assertThat(handled()).isEqualTo("{\"packAttempts\":3,\"parcels\":1,\"rewardAttempts\":3}");
		assertThat(credits()).isOne();
	}

	@Test
	void isNotHandledIfItIsRolledBack() {
		assertThat(post("shipment", "X-Chaos", "fail=before-commit")).isEqualTo(500);
		assertThat(events()).isZero();
		assertThat(handled()).isEqualTo("{\"packAttempts\":0,\"parcels\":0,\"rewardAttempts\":0}");
	}

	private int post(String move, String... chaos) {
		String[] headers = new String[chaos.length + 2];
		headers[0] = "Idempotency-Key";
		headers[1] = ShopClient.newKey();
		System.arraycopy(chaos, 0, headers, 2, chaos.length);
		return this.shop.post("/api/orders/" + this.orderId + "/" + move, "{\"method\": \"card\"}", headers)
			.statusCode();
	}

	private void awaitHandled() {
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(this::events, (count) -> count == 0);
	}

	/**
	 * The events of the order that wait for handlers.
	 */
	private long events() {
		return this.jdbc.sql("select count(*) from outbox_event where event_key = ? and topic like 'handlers:%'")
			.param(this.orderId)
			.query(Long.class)
			.single();
	}

	private String handled() {
		return this.shop.get("/api/orders/" + this.orderId + "/handlers").body();
	}

	private int credits() {
		return JsonPath.read(this.shop.get("/api/effects?userId=" + this.user).body(), "$.credits");
	}

}
