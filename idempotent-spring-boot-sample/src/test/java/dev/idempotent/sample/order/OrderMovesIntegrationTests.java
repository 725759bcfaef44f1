package dev.idempotent.sample.order;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.notification.OrderStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ShopTest
class OrderMovesIntegrationTests {

	private final ShopClient shop;

	private final OrderStream stream;

	private final JdbcClient jdbc;

	private String orderId = "";

	OrderMovesIntegrationTests(@LocalServerPort int port, @Autowired StringRedisTemplate redis,
			@Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.stream = new OrderStream(redis, jdbc);
		this.jdbc = jdbc;
	}

	@BeforeEach
	void placeOrder() {
		this.orderId = this.shop.placeOrder(ShopClient.newUser());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			payment                       | PAID      | order.created order.paid
			payment shipment              | SHIPPED   | order.created order.paid order.shipped
			cancellation                  | CANCELLED | order.created order.cancelled
			""")
	void movesAnOrder(String moves, String status, String events) {
		moveAlong(moves);
		assertThat(status()).isEqualTo(status);
		assertThat(events()).containsExactly(events.split(" "));
		awaitNotifications(events.split(" "));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			''               | shipment     | CREATED
			payment          | payment      | PAID
			payment          | cancellation | PAID
			payment shipment | shipment     | SHIPPED
			payment shipment | cancellation | SHIPPED
			payment shipment | payment      | SHIPPED
			cancellation     | payment      | CANCELLED
			cancellation     | shipment     | CANCELLED
			cancellation     | cancellation | CANCELLED
			""")
	void refusesOtherMovesAndTellsTheStatus(String before, String refused, String status) {
		moveAlong(before);
		List<String> events = events();
		HttpResponse<String> conflict = move(refused);
		assertThat(conflict.statusCode()).isEqualTo(409);
		assertThat(conflict.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(JsonPath.<String>read(conflict.body(), "$.orderStatus")).isEqualTo(status);
		assertThat(status()).isEqualTo(status);
		assertThat(events()).isEqualTo(events);
	}

	@ParameterizedTest
	@CsvSource({ "payment, cancellation", "cancellation, cancellation", "payment, payment" })
	void appliesOneOfTwoMovesAtOnce(String one, String other, @Autowired TransactionOperations transaction) {
		List<CompletableFuture<HttpResponse<String>>> moves = transaction.execute((status) -> {
			this.jdbc.sql("select status from orders where order_id = cast(? as uuid) for update")
				.param(this.orderId)
				.query(String.class)
				.single();
			var sent = List.of(moveAsync(one, ShopClient.newKey()), moveAsync(other, ShopClient.newKey()));
			awaitWaitingMoves(2);
			return sent;
		});
		List<HttpResponse<String>> answers = moves.stream().map(CompletableFuture::join).toList();
		assertThat(answers).extracting(HttpResponse::statusCode).containsExactlyInAnyOrder(200, 409);
		assertThat(answers)
			.extracting((answer) -> JsonPath.<String>read(answer.body(),
					(answer.statusCode() == 200) ? "$.status" : "$.orderStatus"))
			.containsOnly(status());
		assertThat(events()).hasSize(2);
	}

	@ParameterizedTest
	@CsvSource({ "cancellation, ''", "shipment, payment" })
	void replaysARepeatedMove(String move, String before) {
		moveAlong(before);
		String key = ShopClient.newKey();
		HttpResponse<String> first = moveAsync(move, key).join();
		HttpResponse<String> retry = moveAsync(move, key).join();
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(retry.statusCode()).isEqualTo(200);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(events()).containsOnlyOnce((move.equals("shipment")) ? "order.shipped" : "order.cancelled");
	}

	@Test
	void freesKeyAndOrderIfAMoveFailsBeforeTheCommit() {
		String key = ShopClient.newKey();
		assertThat(moveAsync("cancellation", key, "X-Chaos", "fail=before-commit").join().statusCode()).isEqualTo(500);
		assertThat(status()).isEqualTo("CREATED");
		assertThat(moveAsync("cancellation", key).join().statusCode()).isEqualTo(200);
		assertThat(events()).containsExactly("order.created", "order.cancelled");
	}

	@ParameterizedTest
	@CsvSource({ "payment", "cancellation" })
	void doesNotRejectAnOrderThatWasMoved(String move, @Autowired Orders orders) {
		Order created = orders.get(UUID.fromString(this.orderId));
		moveAlong(move);
		assertThatExceptionOfType(OrderConflictException.class).isThrownBy(() -> orders.reject(created));
	}

	@Test
	void runsARefusedMoveAgainWithTheSameKey() {
		String key = ShopClient.newKey();
		assertThat(moveAsync("shipment", key).join().statusCode()).isEqualTo(409);
		move("payment");
		assertThat(moveAsync("shipment", key).join().statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "shipment", "cancellation" })
	void remembersThatAnOrderIsUnknown(String move) {
		this.orderId = UUID.randomUUID().toString();
		String key = ShopClient.newKey();
		assertThat(moveAsync(move, key).join().statusCode()).isEqualTo(404);
		HttpResponse<String> retry = moveAsync(move, key).join();
		assertThat(retry.statusCode()).isEqualTo(404);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	@ParameterizedTest
	@CsvSource({ "shipment", "cancellation" })
	void refusesAMoveWithoutKey(String move) {
		assertThat(this.shop.post("/api/orders/" + this.orderId + "/" + move, "").statusCode()).isEqualTo(400);
		assertThat(status()).isEqualTo("CREATED");
	}

	private void moveAlong(String moves) {
		Stream.of(moves.split(" "))
			.filter((move) -> !move.isEmpty())
			.forEach((move) -> assertThat(move(move).statusCode()).isEqualTo(200));
	}

	private HttpResponse<String> move(String move) {
		return moveAsync(move, ShopClient.newKey()).join();
	}

	private CompletableFuture<HttpResponse<String>> moveAsync(String move, String key, String... headers) {
		String[] all = Stream.concat(Stream.of("Idempotency-Key", key), Stream.of(headers)).toArray(String[]::new);
		return this.shop.postAsync("/api/orders/" + this.orderId + "/" + move,
				move.equals("payment") ? "{\"method\": \"card\"}" : "", all);
	}

	private String status() {
		return JsonPath.read(this.shop.get("/api/orders/" + this.orderId).body(), "$.status");
	}

	private List<String> events() {
		return this.stream.entriesWith(this.orderId).stream().map((entry) -> entry.get("ce_type")).toList();
	}

	private void awaitNotifications(String... types) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(() -> JsonPath.<List<String>>read(this.shop.get("/api/events?orderId=" + this.orderId).body(),
					"$[*].type"), List.of(types)::equals);
	}

	private void awaitWaitingMoves(int count) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(() -> this.jdbc.sql(
					"select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like 'update%orders%'")
				.query(Long.class)
				.single() == count);
	}

}
