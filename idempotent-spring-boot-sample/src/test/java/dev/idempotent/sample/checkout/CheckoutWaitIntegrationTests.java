package dev.idempotent.sample.checkout;

import java.net.http.HttpResponse;
import java.util.UUID;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for checkouts that wait for the bank or for an approval, and are cancelled.
 */
@ShopTest
class CheckoutWaitIntegrationTests {

	private static final String REJECTED = """
			{"orders":0,"rejected":1,"charges":0,"refunds":0,"points":0,"credits":0}""";

	private final ShopClient shop;

	CheckoutWaitIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
	}

	@Test
	void goesOnWhenTheBankReportsThePayment() {
		CheckoutClient customer = new CheckoutClient(this.shop, 10, "transfer", "");
		String id = waits(customer, "confirmed");
		assertThat(customer.send("/api/checkout/start").statusCode()).isEqualTo(202);
		String report = report(id, UUID.randomUUID().toString(), "t-1");
		HttpResponse<String> first = report(report);
		assertThat(first.body()).isEqualTo("{\"result\":\"ACCEPTED\"}");
		HttpResponse<String> again = report(report);
		assertThat(again.body()).isEqualTo(first.body());
		assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(report(report(id, UUID.randomUUID().toString(), "t-2")).body()).contains("DIFFERENT");
		String saga = customer.await(id, "COMPLETED");
		assertThat(JsonPath.<Object>read(saga, "$.waiting")).isNull();
		assertThat(customer.effects()).isEqualTo(CheckoutIntegrationTests.ALL);
		assertThat(cancel(id).body()).isEqualTo("{\"result\":\"COMPLETED\"}");
		assertThat(report(report(id, UUID.randomUUID().toString(), "t-1")).body()).contains("DIFFERENT");
	}

	@Test
	void goesOnWhenItIsApproved() {
		CheckoutClient customer = new CheckoutClient(this.shop, 10, "invoice", "");
		String id = waits(customer, "approved");
		assertThat(this.shop.post("/api/checkout/" + id + "/approval", "").body()).contains("ACCEPTED");
		customer.await(id, "COMPLETED");
		assertThat(customer.effects()).isEqualTo(CheckoutIntegrationTests.ALL);
	}

	@Test
	void isUndoneIfItIsCancelledWhileItWaits() {
		CheckoutClient customer = new CheckoutClient(this.shop, 10, "transfer", "");
		String id = waits(customer, "confirmed");
		assertThat(cancel(id).body()).isEqualTo("{\"result\":\"COMPENSATING\"}");
		String saga = customer.await(id, "COMPENSATED");
		assertThat(JsonPath.<String>read(saga, "$.reason")).isEqualTo("Cancelled: The customer has cancelled");
		assertThat(customer.effects()).isEqualTo(REJECTED);
		assertThat(report(report(id, UUID.randomUUID().toString(), "t-1")).body()).contains("TOO_LATE");
	}

	@Test
	void doesNotKnowCheckoutsThatWereNotStarted() {
		String absent = "0".repeat(64);
		assertThat(cancel(absent).statusCode()).isEqualTo(404);
		assertThat(this.shop.post("/api/checkout/" + absent + "/approval", "").statusCode()).isEqualTo(404);
	}

	private String waits(CheckoutClient customer, String signal) {
		String id = customer.start();
		await().until(() -> this.shop.get("/api/checkout/" + id).body(),
				(body) -> body.contains("\"waiting\":{\"name\":\"" + signal + "\""));
		return id;
	}

	private static String report(String checkout, String event, String reference) {
		return "{\"id\": \"%s\", \"checkout\": \"%s\", \"reference\": \"%s\"}".formatted(event, checkout, reference);
	}

	private HttpResponse<String> report(String body) {
		return this.shop.post("/api/bank/reports", body);
	}

	private HttpResponse<String> cancel(String id) {
		return this.shop.post("/api/checkout/" + id + "/cancellation", "");
	}

}
