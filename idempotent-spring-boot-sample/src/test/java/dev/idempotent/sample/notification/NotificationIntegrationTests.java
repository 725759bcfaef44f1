package dev.idempotent.sample.notification;

import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class NotificationIntegrationTests {

	private final String user = ShopClient.newUser();

	private final String key = ShopClient.newKey();

	private final ShopClient shop;

	private final OrderStream stream;

	private final JdbcClient jdbc;

	NotificationIntegrationTests(@LocalServerPort int port, @Autowired StringRedisTemplate redis,
			@Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.stream = new OrderStream(redis, jdbc);
		this.jdbc = jdbc;
	}

	@ParameterizedTest
	@ValueSource(strings = { "/api/orders", "/api/orders/lease" })
	void notifiesOnceOfAnOrder(String path) {
		String orderId = orderId(place(path, "delay=0"));
		assertThat(awaitEvents(orderId, 1)).containsExactly("order.created");
		assertThat(this.stream.entriesWith(this.user)).singleElement()
			.satisfies((entry) -> assertThat(entry).containsEntry("ce_type", "order.created")
				.containsEntry("ce_subject", orderId)
				.containsEntry("ce_source", "/coupon-shop"));
		assertThat(texts(orderId)).containsExactly("1 × Coffee coupon ordered");
	}

	@Test
	void listsHandledEvents() {
		String orderId = this.shop.placeOrder(this.user);
		awaitEvents(orderId, 1);
		String events = this.shop.get("/api/events?orderId=" + orderId).body();
		assertThat(JsonPath.<Map<String, Object>>read(events, "$[0]")).containsOnlyKeys("eventId", "type", "orderId",
				"handledAt");
		assertThat(JsonPath.<String>read(events, "$[0].eventId"))
			.isEqualTo(this.stream.entriesWith(this.user).get(0).get("ce_id"));
		assertThat(JsonPath.<String>read(events, "$[0].orderId")).isEqualTo(orderId);
	}

	@Test
	void publishesNoEventForAReplayedRequest() {
		HttpResponse<String> first = place("/api/orders", "delay=0");
		HttpResponse<String> retry = place("/api/orders", "delay=0");
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(this.stream.entriesWith(this.user)).hasSize(1);
		assertThat(awaitEvents(orderId(first), 1)).containsExactly("order.created");
	}

	@Test
	void publishesNoEventOfAnOrderThatWasRolledBack() {
		assertThat(place("/api/orders", "fail=before-commit").statusCode()).isEqualTo(500);
		assertThat(this.stream.entriesWith(this.user)).isEmpty();
	}

	@Test
	void publishesACommittedEventIfTheRequestFailsAfterwards() {
		HttpResponse<String> failed = place("/api/orders/lease", "fail=after-commit");
		assertThat(failed.statusCode()).isEqualTo(500);
		String orderId = this.jdbc.sql("select order_id from orders where user_id = ?")
			.param(this.user)
			.query(String.class)
			.single();
		assertThat(awaitEvents(orderId, 1)).containsExactly("order.created");
	}

	@Test
	void dropsADuplicateEventOfTheStream() {
		String orderId = this.shop.placeOrder(this.user);
		awaitEvents(orderId, 1);
		int delivered = stat("eventsDelivered");
		int dropped = stat("duplicatesDropped");
		Map<String, String> entry = this.stream.entriesWith(this.user).get(0);
		this.stream.add(entry);
		this.stream.awaitDeliveries(Objects.requireNonNull(entry.get("ce_id")), 2);
		assertThat(events(orderId)).containsExactly("order.created");
		assertThat(stat("eventsDelivered")).isEqualTo(delivered + 1);
		assertThat(stat("duplicatesDropped")).isEqualTo(dropped + 1);
	}

	@Test
	void countsNoDuplicateForTheRedeliveryOfAFailedEvent(@Autowired Deliveries deliveries) {
		int dropped = stat("duplicatesDropped");
		Map<String, String> headers = Map.of("ce_id", UUID.randomUUID().toString(), "ce_type", "order.created");
		deliveries.count(headers);
		deliveries.count(headers);
		assertThat(stat("duplicatesDropped")).isEqualTo(dropped);
	}

	@Test
	void notifiesOfAPayment() {
		String orderId = this.shop.placeOrder(this.user);
		awaitEvents(orderId, 1);
		assertThat(pay(orderId, "declined").statusCode()).isEqualTo(402);
		assertThat(pay(orderId, "card").statusCode()).isEqualTo(200);
		assertThat(awaitEvents(orderId, 2)).containsExactly("order.created", "order.paid");
		assertThat(this.stream.entriesWith(orderId)).hasSize(2);
		assertThat(texts(orderId)).containsExactly("1 × Coffee coupon ordered", "Order paid");
	}

	@Test
	void ignoresEventsOfOtherTypes() {
		String orderId = this.shop.placeOrder(this.user);
		awaitEvents(orderId, 1);
		String eventId = UUID.randomUUID().toString();
		Map<String, String> entry = new HashMap<>(this.stream.entriesWith(this.user).get(0));
		entry.put("ce_id", eventId);
		entry.put("ce_type", "order.returned");
		this.stream.add(entry);
		this.stream.awaitDeliveries(eventId, 1);
		assertThat(events(orderId)).containsExactly("order.created");
	}

	@Test
	void listsNoEventsOfAnUnknownOrder() {
		assertThat(events(UUID.randomUUID().toString())).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?orderId=", "?orderId=seven" })
	void refusesToListEventsWithoutAnOrder(String query) {
		HttpResponse<String> refused = this.shop.get("/api/events" + query);
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
	}

	private HttpResponse<String> place(String path, String chaos) {
		return this.shop.post(path, ShopClient.orderOf(this.user, 1), "Idempotency-Key", this.key, "X-Chaos", chaos);
	}

	private HttpResponse<String> pay(String orderId, String method) {
		return this.shop.post("/api/orders/" + orderId + "/payment", "{\"method\": \"%s\"}".formatted(method),
				"Idempotency-Key", ShopClient.newKey());
	}

	private List<String> awaitEvents(String orderId, int count) {
		return Awaitility.await()
			.atMost(OrderStream.PATIENCE)
			.until(() -> events(orderId), (events) -> events.size() >= count);
	}

	private List<String> events(String orderId) {
		return JsonPath.read(this.shop.get("/api/events?orderId=" + orderId).body(), "$[*].type");
	}

	private List<String> texts(String orderId) {
		return this.jdbc.sql("select text from notification where order_id = cast(? as uuid) order by notification_id")
			.param(orderId)
			.query(String.class)
			.list();
	}

	private int stat(String name) {
		return JsonPath.read(this.shop.get("/api/stats").body(), "$." + name);
	}

	private static String orderId(HttpResponse<String> placed) {
		return JsonPath.read(placed.body(), "$.orderId");
	}

}
