package dev.idempotent.sample.checkout;

import java.net.http.HttpResponse;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class CheckoutIntegrationTests {

	static final String ALL = """
			{"orders":1,"rejected":0,"charges":1,"refunds":0,"points":10,"credits":1}""";

	static final String NONE_CHARGED = """
			{"orders":0,"rejected":1,"charges":0,"refunds":0,"points":0,"credits":0}""";

	static final String UNDONE = """
			{"orders":0,"rejected":1,"charges":1,"refunds":1,"points":0,"credits":0}""";

	private final ShopClient shop;

	CheckoutIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
	}

	@Test
	void takesEffectOnceInAllServices() {
		CheckoutClient customer = new CheckoutClient(this.shop, 10, "card", "");
		HttpResponse<String> first = customer.send("/api/checkout");
		assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
		assertThat(customer.send("/api/checkout").body()).isEqualTo(first.body());
		assertThat(customer.effects()).isEqualTo(ALL);
	}

	@Test
	void isFinishedInTheBackground() {
		CheckoutClient customer = new CheckoutClient(this.shop, 10, "card", "");
		HttpResponse<String> accepted = customer.send("/api/checkout/start");
		assertThat(accepted.statusCode()).as(accepted.body()).isEqualTo(202);
		String id = JsonPath.read(accepted.body(), "$.id");
		assertThat(accepted.headers().firstValue("Location")).hasValue("/api/checkout/" + id);
		String saga = customer.await(id, "COMPLETED");
		assertThat(saga).contains("\"name\":\"order\"", "\"name\":\"payment\"", "\"name\":\"points\"");
		assertThat(customer.start()).isEqualTo(id);
		assertThat(customer.effects()).isEqualTo(ALL);
	}

	@Test
	void rejectsTheOrderIfTheCardIsDeclined() {
		CheckoutClient customer = new CheckoutClient(this.shop, 10, "declined", "");
		HttpResponse<String> refused = customer.send("/api/checkout");
		assertThat(refused.statusCode()).as(refused.body()).isEqualTo(422);
		assertThat(refused.body()).contains("saga-compensated");
		assertThat(customer.send("/api/checkout").body()).isEqualTo(refused.body());
		assertThat(customer.effects()).isEqualTo(NONE_CHARGED);
	}

	@Test
	void refundsTheCardIfThePointsAreRefused() {
		CheckoutClient customer = new CheckoutClient(this.shop, 500, "card", "");
		String saga = customer.await(customer.start(), "COMPENSATED");
		assertThat(JsonPath.<String>read(saga, "$.reason")).isNotEmpty();
		assertThat(customer.effects()).isEqualTo(UNDONE);
	}

	@Test
	void isUnknownWithoutAStart() {
		HttpResponse<String> unknown = this.shop.get("/api/checkout/" + "0".repeat(64));
		assertThat(unknown.statusCode()).isEqualTo(404);
		assertThat(unknown.body()).contains("No checkout has this id.");
	}

}
