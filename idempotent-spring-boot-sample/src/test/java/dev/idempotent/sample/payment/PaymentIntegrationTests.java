package dev.idempotent.sample.payment;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class PaymentIntegrationTests {

	private static final int PAYERS = 16;

	private final ShopClient shop;

	private final JdbcClient jdbc;

	private String orderId = "";

	PaymentIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@BeforeEach
	void placeOrder() {
		this.orderId = this.shop.placeOrder(ShopClient.newUser());
	}

	@Test
	void paysAnOrder() {
		HttpResponse<String> paid = pay("card");
		assertThat(paid.statusCode()).isEqualTo(200);
		assertThat(JsonPath.<String>read(paid.body(), "$.orderId")).isEqualTo(this.orderId);
		assertThat(JsonPath.<String>read(paid.body(), "$.paymentId")).isNotBlank();
		assertThat(JsonPath.<String>read(paid.body(), "$.status")).isEqualTo("PAID");
		assertThat(orderStatus()).isEqualTo("PAID");
		assertThat(rows("payments")).isOne();
		assertThat(rows("charges")).isOne();
	}

	@Test
	void refusesToPayAnUnknownOrder() {
		this.orderId = UUID.randomUUID().toString();
		assertProblem(pay("card"), 404);
		assertThat(rows("charges")).isZero();
	}

	@Test
	void refusesToPayAPaidOrderAgain() {
		pay("card");
		assertProblem(pay("card"), 409);
		assertThat(rows("charges")).isOne();
	}

	@Test
	void keepsAnOrderUnpaidIfTheGatewayDeclines() {
		assertProblem(pay("declined"), 402);
		assertThat(orderStatus()).isEqualTo("CREATED");
		assertThat(pay("card").statusCode()).isEqualTo(200);
		assertThat(rows("payments")).isOne();
		assertThat(rows("charges")).isEqualTo(2);
		assertThat(rows("charges where approved")).isOne();
	}

	@Test
	void refusesABlankMethod() {
		assertProblem(pay(" "), 400);
		assertThat(rows("charges")).isZero();
	}

	@Test
	void chargesOnceForConcurrentPaymentsWithDifferentKeys() {
		List<CompletableFuture<HttpResponse<String>>> payers = Stream.generate(() -> payAsync("card"))
			.limit(PAYERS)
			.toList();
		List<Integer> statuses = payers.stream().map((payer) -> payer.join().statusCode()).toList();
		assertThat(statuses).containsOnlyOnce(200).containsOnly(200, 409);
		assertThat(rows("payments")).isOne();
		assertThat(rows("charges")).isOne();
	}

	private HttpResponse<String> pay(String method) {
		return payAsync(method).join();
	}

	private CompletableFuture<HttpResponse<String>> payAsync(String method) {
		return this.shop.postAsync("/api/orders/" + this.orderId + "/payment", "{\"method\": \"%s\"}".formatted(method),
				"Idempotency-Key", ShopClient.newKey());
	}

	private String orderStatus() {
		return JsonPath.read(this.shop.get("/api/orders/" + this.orderId).body(), "$.status");
	}

	private long rows(String table) {
		return this.jdbc.sql("select count(*) from (select order_id from " + table + ") t where order_id = ?")
			.param(UUID.fromString(this.orderId))
			.query(Long.class)
			.single();
	}

	private static void assertProblem(HttpResponse<String> answer, int status) {
		assertThat(answer.statusCode()).isEqualTo(status);
		assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
	}

}
