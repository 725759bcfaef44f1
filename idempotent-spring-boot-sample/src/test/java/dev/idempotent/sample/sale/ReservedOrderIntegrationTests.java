package dev.idempotent.sample.sale;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static dev.idempotent.sample.sale.SaleClient.assertRefused;
import static dev.idempotent.sample.sale.SaleClient.isReplayed;
import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ReservedOrderIntegrationTests {

	private static final String UNKNOWN = "0".repeat(64);

	private final ShopClient shop;

	private final SaleClient sale;

	private final JdbcClient jdbc;

	ReservedOrderIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.sale = new SaleClient(this.shop).open(100, 10);
		this.jdbc = jdbc;
	}

	@Test
	void ordersAReservedUnitOnce() {
		String id = this.sale.reserved("ann");
		HttpResponse<String> ordered = this.sale.order(id);
		assertThat(ordered.statusCode()).isEqualTo(201);
		String orderId = JsonPath.read(ordered.body(), "$.orderId");
		assertThat(ordered.headers().firstValue("Location")).hasValue("/api/orders/" + orderId);
		assertThat(this.shop.get("/api/orders/" + orderId).body()).isEqualTo(ordered.body());
		assertThat(JsonPath.<String>read(this.sale.find(id).body(), "$.orderId")).isEqualTo(orderId);
		assertThat(this.sale.stateOf(id)).isEqualTo("CONFIRMED");
		HttpResponse<String> again = this.sale.order(id);
		assertThat(isReplayed(again)).isTrue();
		assertThat(again.body()).isEqualTo(ordered.body());
		assertThat(orders()).isOne();
	}

	@Test
	void ordersOnceForManyRequestsAtOnce() {
		String id = this.sale.reserved("ann");
		List<HttpResponse<String>> responses = IntStream.range(0, 10)
			.mapToObj((i) -> this.sale.orderAsync(id))
			.toList()
			.stream()
			.map(CompletableFuture::join)
			.toList();
		assertThat(responses).extracting(HttpResponse::statusCode).contains(201).isSubsetOf(201, 409);
		assertThat(responses).filteredOn((response) -> response.statusCode() == 201)
			.extracting(HttpResponse::body)
			.containsOnly(this.sale.order(id).body());
		assertThat(orders()).isOne();
	}

	@Test
	void doesNotOrderAgainWhenTheResponseIsNoLongerStored() {
		String id = this.sale.reserved("ann");
		UUID orderId = UUID.fromString(this.shop.placeOrder("ann"));
		this.jdbc.sql("update reservation set state = 'CONFIRMED', order_id = ? where reservation_id = ?")
			.params(orderId, id)
			.update();
		assertRefused(this.sale.order(id), 409, "already-ordered");
		assertThat(orders()).isZero();
	}

	@Test
	void ordersEitherOrGivesBack() {
		for (int i = 0; i < 10; i++) {
			String id = this.sale.reserved("user-" + i);
			CompletableFuture<HttpResponse<String>> ordering = this.sale.orderAsync(id);
			CompletableFuture<HttpResponse<String>> cancelling = this.sale.cancelAsync(id);
			HttpResponse<String> ordered = ordering.join();
			HttpResponse<String> cancelled = cancelling.join();
			if (ordered.statusCode() == 201) {
				assertRefused(cancelled, 409, "already-ordered");
				assertThat(this.sale.stateOf(id)).isEqualTo("CONFIRMED");
			}
			else {
				assertRefused(ordered, 410, "reservation-ended");
				assertThat(cancelled.body()).isEqualTo("{\"outcome\":\"CANCELLED\"}");
				assertThat(this.sale.stateOf(id)).isEqualTo("ENDED");
			}
		}
		String view = this.sale.view().body();
		assertThat(JsonPath.<Integer>read(view, "$.confirmed")).isEqualTo(orders());
		assertThat(JsonPath.<Integer>read(view, "$.free")).isEqualTo(100 - orders());
	}

	@Test
	void givesAUnitBackOnce() {
		String id = this.sale.reserved("ann");
		assertThat(this.sale.cancel(id).body()).isEqualTo("{\"outcome\":\"CANCELLED\"}");
		assertThat(this.sale.cancel(id).body()).isEqualTo("{\"outcome\":\"ALREADY_ENDED\"}");
		assertThat(JsonPath.<Integer>read(this.sale.view().body(), "$.free")).isEqualTo(100);
	}

	@Test
	void doesNotOrderWhatWasGivenBack() {
		String id = this.sale.reserved("ann");
		this.sale.cancel(id);
		assertRefused(this.sale.order(id), 410, "reservation-ended");
		HttpResponse<String> again = this.sale.order(id);
		assertRefused(again, 410, "reservation-ended");
		assertThat(isReplayed(again)).isTrue();
		assertThat(orders()).isZero();
	}

	@Test
	void doesNotReleaseWhatIsOrdered() {
		String id = this.sale.reserved("ann");
		this.sale.order(id);
		assertRefused(this.sale.cancel(id), 409, "already-ordered");
		assertThat(this.sale.stateOf(id)).isEqualTo("CONFIRMED");
	}

	@Test
	void ordersAUnitThatIsOverdueAndNotYetGivenBack() {
		String id = this.sale.reserved("ann");
		this.jdbc.sql("update reservation set expires_at = expires_at - interval '1 minute' where reservation_id = ?")
			.param(id)
			.update();
		// The sweep may come first.
		HttpResponse<String> ordered = this.sale.order(id);
		assertThat(List.of(ordered.statusCode(), orders())).isIn(List.of(201, 1), List.of(410, 0));
	}

	@ParameterizedTest
	@CsvSource({ "fail=before-commit, 500", "fail=after-commit, 201" })
	void ordersOnceIfItFails(String chaos, int status) {
		String id = this.sale.reserved("ann");
		assertThat(this.sale.order(id, "X-Chaos", chaos).statusCode()).isEqualTo(status);
		assertThat(orders()).isEqualTo((status == 201) ? 1 : 0);
		assertThat(this.sale.order(id).statusCode()).isEqualTo(201);
		assertThat(orders()).isOne();
	}

	@Test
	void refusesAnUnknownReservation() {
		Stream.of(this.sale.find(UNKNOWN), this.sale.cancel(UNKNOWN), this.sale.order(UNKNOWN))
			.forEach((refused) -> assertRefused(refused, 404, "reservation-unknown"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "x", "%00", "%7Bid%7D", "..%2F" })
	void refusesWhatIsNotTheIdOfAReservation(String id) {
		Stream.of(this.sale.find(id), this.sale.cancel(id), this.sale.order(id))
			.forEach((refused) -> assertThat(refused.statusCode()).isBetween(400, 404));
	}

	private int orders() {
		return this.jdbc.sql("select count(*) from orders where item = ?")
			.param(this.sale.item())
			.query(Integer.class)
			.single();
	}

}
