package dev.idempotent.sample.chaos;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ChaosIntegrationTests {

	private final String user = ShopClient.newUser();

	private final String key = ShopClient.newKey();

	private final ShopClient shop;

	private final JdbcClient jdbc;

	ChaosIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@Test
	void rollsBackWhenFailingBeforeTheCommit() {
		assertThat(place("fail=before-commit").statusCode()).isEqualTo(500);
		assertThat(ordersInTheDatabase()).isZero();
		assertThat(place("delay=0").statusCode()).isEqualTo(201);
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void replaysTheCommittedResponseWhenFailingAfterTheCommit() {
		HttpResponse<String> first = place("fail=after-commit");
		HttpResponse<String> retry = place("delay=0");
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void runsAgainUnderALeaseWhenFailingAfterTheCommit() {
		assertThat(placeUnderLease("fail=after-commit").statusCode()).isEqualTo(500);
		assertThat(placeUnderLease("delay=0").statusCode()).isEqualTo(201);
		assertThat(ordersInTheDatabase()).isEqualTo(2);
	}

	@Test
	void chargesOnceIfAPaymentFailsBeforeTheCommitAndIsRetried() {
		String orderId = this.shop.placeOrder(this.user);
		assertThat(pay(orderId, "fail=before-commit").statusCode()).isEqualTo(500);
		assertThat(charges(orderId)).isOne();
		assertThat(JsonPath.<String>read(this.shop.get("/api/orders/" + orderId).body(), "$.status"))
			.isEqualTo("CREATED");
		assertThat(pay(orderId, "delay=0").statusCode()).isEqualTo(200);
		assertThat(charges(orderId)).isOne();
	}

	@Test
	void rollsBackFeedbackWhenFailingBeforeTheCommit() {
		HttpResponse<String> failed = this.shop.post("/api/feedback", """
				{"userId": "%s", "text": "Lost words"}
				""".formatted(this.user), "X-Chaos", "fail=before-commit");
		assertThat(failed.statusCode()).isEqualTo(500);
		assertThat(this.jdbc.sql("select count(*) from feedback where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single()).isZero();
	}

	@Test
	void delaysTheWork() {
		long start = System.nanoTime();
		assertThat(place("delay=300").statusCode()).isEqualTo(201);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
	}

	@Test
	void refusesAnInvalidHeaderBeforeAnyWork() {
		HttpResponse<String> refused = place("explode=now");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(ordersInTheDatabase()).isZero();
	}

	private HttpResponse<String> pay(String orderId, String chaos) {
		return this.shop.post("/api/orders/" + orderId + "/payment", "{\"method\": \"card\"}", "Idempotency-Key",
				this.key, "X-Chaos", chaos);
	}

	private long charges(String orderId) {
		return this.jdbc.sql("select count(*) from charges where order_id = ?")
			.param(UUID.fromString(orderId))
			.query(Long.class)
			.single();
	}

	private HttpResponse<String> place(String chaos) {
		return place("/api/orders", chaos);
	}

	private HttpResponse<String> placeUnderLease(String chaos) {
		return place("/api/orders/lease", chaos);
	}

	private HttpResponse<String> place(String path, String chaos) {
		return this.shop.post(path, ShopClient.orderOf(this.user, 1), "Idempotency-Key", this.key, "X-Chaos", chaos);
	}

	private long ordersInTheDatabase() {
		return this.jdbc.sql("select count(*) from orders where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single();
	}

}
