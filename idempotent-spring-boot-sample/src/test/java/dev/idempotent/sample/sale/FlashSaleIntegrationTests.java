package dev.idempotent.sample.sale;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.web.server.LocalServerPort;

import static dev.idempotent.sample.sale.SaleClient.assertRefused;
import static dev.idempotent.sample.sale.SaleClient.isReplayed;
import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class FlashSaleIntegrationTests {

	private final String key = ShopClient.newKey();

	private final ShopClient shop;

	private final SaleClient sale;

	FlashSaleIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
		this.sale = new SaleClient(this.shop);
	}

	@Test
	void opensASale() {
		HttpResponse<String> opened = this.sale.open(3, 2, this.key);
		assertThat(opened.statusCode()).isEqualTo(201);
		assertThat(opened.headers().firstValue("Location")).hasValue("/api/flash-sales/" + this.sale.item());
		assertThat(opened.body()).isEqualTo("""
				{"item":"%s","stock":3,"perUser":2}""".formatted(this.sale.item()));
		assertThat(isReplayed(this.sale.open(3, 2, this.key))).isTrue();
	}

	@Test
	void loadsTheGateBeforeTheFirstBuyer() {
		this.sale.open(3, 2);
		assertThat(this.sale.view().body()).isEqualTo("""
				{"item":"%s","stock":3,"perUser":2,"free":3,"held":0,"confirmed":0,"gate":{"units":3,"tickets":0}}"""
			.formatted(this.sale.item()));
	}

	@Test
	void showsHeldAndConfirmedUnits() {
		this.sale.open(3, 2);
		this.sale.order(this.sale.reserved("ann"));
		this.sale.reserved("ann");
		String view = this.sale.view().body();
		assertThat(List.of(JsonPath.<Integer>read(view, "$.free"), JsonPath.<Integer>read(view, "$.held"),
				JsonPath.<Integer>read(view, "$.confirmed"), JsonPath.<Integer>read(view, "$.gate.units")))
			.containsExactly(1, 1, 1, 1);
	}

	@Test
	void doesNotOpenASaleTwice() {
		this.sale.open(3, 2);
		assertRefused(this.sale.open(5, 2, this.key), 409, "already-on-sale");
		HttpResponse<String> again = this.sale.open(5, 2, this.key);
		assertRefused(again, 409, "already-on-sale");
		assertThat(isReplayed(again)).isFalse();
		assertThat(JsonPath.<Integer>read(this.sale.view().body(), "$.stock")).isEqualTo(3);
	}

	@ParameterizedTest
	@ValueSource(strings = { """
			{"stock": 1, "perUser": 1}""", """
			{"item": "", "stock": 1, "perUser": 1}""", """
			{"item": "..", "stock": 1, "perUser": 1}""", """
			{"item": "a/b", "stock": 1, "perUser": 1}""", """
			{"item": "a{b}", "stock": 1, "perUser": 1}""", """
			{"item": "a\\u0000b", "stock": 1, "perUser": 1}""", """
			{"item": "a\\nb", "stock": 1, "perUser": 1}""", """
			{"item": "a", "stock": 0, "perUser": 1}""", """
			{"item": "a", "stock": -1, "perUser": 1}""", """
			{"item": "a", "stock": 1000001, "perUser": 1}""", """
			{"item": "a", "stock": 99999999999, "perUser": 1}""", """
			{"item": "a", "stock": 1, "perUser": 0}""", """
			{"item": "a", "stock": 1, "perUser": 11}""", """
			[]""", "" })
	void refusesAnInvalidSale(String json) {
		HttpResponse<String> refused = this.shop.post("/api/flash-sales", json, "Idempotency-Key", this.key);
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(this.sale.open(1, 1, this.key).statusCode()).isEqualTo(201);
	}

	@Test
	void refusesALongName() {
		HttpResponse<String> refused = this.shop.post("/api/flash-sales", """
				{"item": "%s", "stock": 1, "perUser": 1}
				""".formatted("a".repeat(10_000)), "Idempotency-Key", this.key);
		assertThat(refused.statusCode()).isEqualTo(400);
	}

	@Test
	void refusesToShowAnUnknownSale() {
		assertRefused(this.sale.view(), 404, "sale-unknown");
	}

	@ParameterizedTest
	@ValueSource(strings = { "%7Bx%7D", "a%00b", "a%2Fb", "a%0Ab", "..%2F..", "%ff", "%F0%9F%98%80" })
	void refusesWhatIsNotTheNameOfAnItem(String item) {
		String path = "/api/flash-sales/" + item;
		assertThat(List.of(this.shop.get(path), this.shop.get(path + "/door"), post(path + "/reservations"),
				post(path + "/naive")))
			.allSatisfy((refused) -> assertThat(refused.statusCode()).isBetween(400, 404));
	}

	@Test
	void refusesALongPath() {
		assertThat(post("/api/flash-sales/" + "a".repeat(10_000) + "/reservations").statusCode()).isBetween(400, 431);
	}

	@Test
	void closesTheDoorWhenTheLastUnitIsTakenAndOpensItWhenOneComesBack() {
		this.sale.open(1, 1);
		assertThat(this.sale.isSoldOutAtTheDoor()).isFalse();
		String id = this.sale.reserved("ann");
		Awaitility.await().atMost(1, TimeUnit.MINUTES).until(this.sale::isSoldOutAtTheDoor);
		this.sale.cancel(id);
		Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> !this.sale.isSoldOutAtTheDoor());
	}

	@Test
	void leavesTheDoorOfAnUnknownSaleOpen() {
		assertThat(this.sale.isSoldOutAtTheDoor()).isFalse();
	}

	private HttpResponse<String> post(String path) {
		return this.shop.post(path, "{\"userId\": \"ann\"}", "Idempotency-Key", this.key);
	}

}
