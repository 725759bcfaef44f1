package dev.idempotent.sample.order;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class OrderIntegrationTests {

	private final String user = ShopClient.newUser();

	private final ShopClient shop;

	private final JdbcClient jdbc;

	OrderIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@Test
	void placesAnOrderAndReturnsItsLocation() {
		HttpResponse<String> placed = place(3, ShopClient.newKey());
		assertThat(placed.statusCode()).isEqualTo(201);
		assertThat(JsonPath.<String>read(placed.body(), "$.userId")).isEqualTo(this.user);
		assertThat(JsonPath.<Integer>read(placed.body(), "$.amount")).isEqualTo(3);
		assertThat(JsonPath.<String>read(placed.body(), "$.status")).isEqualTo("CREATED");
		String location = placed.headers().firstValue("Location").orElseThrow();
		assertThat(location).isEqualTo("/api/orders/" + JsonPath.<String>read(placed.body(), "$.orderId"));
		assertThat(this.shop.get(location).body()).isEqualTo(placed.body());
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void storesTheNote() {
		this.shop.post("/api/orders", """
				{"userId": "%s", "item": "Tea coupon", "amount": 1, "note": "no sugar"}
				""".formatted(this.user), "Idempotency-Key", ShopClient.newKey());
		assertThat(this.jdbc.sql("select note from orders where user_id = ?")
			.param(this.user)
			.query(String.class)
			.single()).isEqualTo("no sugar");
	}

	@ParameterizedTest
	@ValueSource(strings = { """
			{"userId": " ", "item": "Coffee coupon", "amount": 1}""", """
			{"userId": "ann", "item": "", "amount": 1}""", """
			{"userId": "ann", "item": "Coffee coupon", "amount": 0}""", """
			{"userId": "ann", "item": "Coffee coupon"}""" })
	void refusesAnIncompleteOrder(String json) {
		HttpResponse<String> refused = this.shop.post("/api/orders", json, "Idempotency-Key", ShopClient.newKey());
		assertProblem(refused, 400);
	}

	@Test
	void refusesAnOrderWithoutKey() {
		HttpResponse<String> refused = this.shop.post("/api/orders", ShopClient.orderOf(this.user, 1));
		assertProblem(refused, 400);
		assertThat(ordersInTheDatabase()).isZero();
	}

	@Test
	void answersWithAProblemForAnUnknownOrder() {
		assertProblem(this.shop.get("/api/orders/00000000-0000-0000-0000-000000000000"), 404);
	}

	@Test
	void listsTheOrdersOfAUserNewestFirst() {
		String first = this.shop.placeOrder(this.user);
		String second = this.shop.placeOrder(this.user);
		this.shop.placeOrder(ShopClient.newUser());
		HttpResponse<String> orders = this.shop.get("/api/orders?userId=" + this.user);
		assertThat(orders.statusCode()).isEqualTo(200);
		assertThat(JsonPath.<List<String>>read(orders.body(), "$[*].orderId")).containsExactly(second, first);
	}

	@Test
	void replaysTheFirstAnswerToARetry() {
		String key = ShopClient.newKey();
		HttpResponse<String> first = place(1, key);
		HttpResponse<String> retry = place(1, key);
		assertThat(retry.statusCode()).isEqualTo(201);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"));
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void refusesAnotherOrderUnderTheSameKey() {
		String key = ShopClient.newKey();
		place(1, key);
		assertProblem(place(2, key), 422);
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void placesOneOrderForADoubleClick() {
		String[] headers = { "Idempotency-Key", ShopClient.newKey(), "X-Chaos", "delay=1000" };
		List<CompletableFuture<HttpResponse<String>>> clicks = List.of(
				this.shop.postAsync("/api/orders", ShopClient.orderOf(this.user, 1), headers),
				this.shop.postAsync("/api/orders", ShopClient.orderOf(this.user, 1), headers));
		List<HttpResponse<String>> answers = clicks.stream().map(CompletableFuture::join).toList();
		assertThat(answers).extracting(HttpResponse::statusCode).containsExactlyInAnyOrder(201, 409);
		assertThat(answers).filteredOn((answer) -> answer.statusCode() == 409)
			.allSatisfy((answer) -> assertThat(answer.headers().firstValue("Retry-After")).isPresent());
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void answersBothClicksWhereADuplicateWaits() {
		String[] headers = { "Idempotency-Key", ShopClient.newKey(), "X-Chaos", "delay=1000" };
		List<CompletableFuture<HttpResponse<String>>> clicks = List.of(
				this.shop.postAsync("/api/orders/wait", ShopClient.orderOf(this.user, 1), headers),
				this.shop.postAsync("/api/orders/wait", ShopClient.orderOf(this.user, 1), headers));
		List<HttpResponse<String>> answers = clicks.stream().map(CompletableFuture::join).toList();
		assertThat(answers).extracting(HttpResponse::statusCode).containsExactly(201, 201);
		assertThat(answers.get(0).body()).isEqualTo(answers.get(1).body());
		assertThat(answers).filteredOn((answer) -> answer.headers().firstValue("Idempotent-Replayed").isPresent())
			.hasSize(1);
		assertThat(ordersInTheDatabase()).isOne();
	}

	private HttpResponse<String> place(int amount, String key) {
		return this.shop.post("/api/orders", ShopClient.orderOf(this.user, amount), "Idempotency-Key", key);
	}

	private long ordersInTheDatabase() {
		return this.jdbc.sql("select count(*) from orders where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single();
	}

	private static void assertProblem(HttpResponse<String> answer, int status) {
		assertThat(answer.statusCode()).isEqualTo(status);
		assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
	}

}
