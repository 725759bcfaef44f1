package dev.idempotent.sample.gateway;

import java.net.http.HttpResponse;
import java.util.UUID;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class RefundIntegrationTests {

	private final ShopClient shop;

	private final JdbcClient jdbc;

	private final int charge;

	RefundIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
		HttpResponse<String> charged = this.shop.post("/gateway/charges",
				"{\"orderId\": \"" + UUID.randomUUID() + "\", \"method\": \"card\"}", "Idempotency-Key",
				ShopClient.newKey());
		this.charge = JsonPath.read(charged.body(), "$.chargeId");
	}

	@AfterEach
	void takeRefundsAgain() {
		switchRefunds(true);
	}

	@Test
	void areMadeOncePerKey() {
		String key = ShopClient.newKey();
		HttpResponse<String> first = refund(key);
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(refund(key).body()).isEqualTo(first.body());
		assertThat(refunds()).isOne();
	}

	@Test
	void areMadeUnderAnotherKeyAfterARefusal() {
		String key = ShopClient.newKey();
		assertThat(switchRefunds(false)).contains("\"refunds\":false");
		assertThat(refund(key).statusCode()).isEqualTo(422);
		assertThat(refunds()).isZero();
		assertThat(switchRefunds(true)).contains("\"refunds\":true");
		assertThat(refund(key).statusCode()).as("a replay").isEqualTo(422);
		assertThat(refund(ShopClient.newKey()).statusCode()).isEqualTo(200);
		assertThat(refunds()).isOne();
	}

	private String switchRefunds(boolean on) {
		this.shop.post("/api/chaos/gateway", "{\"refunds\": " + on + "}");
		return this.shop.get("/api/chaos/gateway").body();
	}

	private HttpResponse<String> refund(String key) {
		return this.shop.post("/gateway/refunds", "{\"chargeId\": " + this.charge + "}", "Idempotency-Key", key);
	}

	private long refunds() {
		return this.jdbc.sql("select count(*) from refunds where charge_id = ?")
			.param(this.charge)
			.query(Long.class)
			.single();
	}

}
