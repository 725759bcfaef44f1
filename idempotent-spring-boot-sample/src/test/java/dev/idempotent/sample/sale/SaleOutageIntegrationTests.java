package dev.idempotent.sample.sale;

import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
@TestPropertySource(properties = "idempotent.namespace=shop-with-outages")
class SaleOutageIntegrationTests {

	private final ShopClient shop;

	private final SaleClient sale;

	SaleOutageIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
		this.sale = new SaleClient(this.shop);
	}

	@AfterEach
	void restore() {
		chaos("restore");
	}

	@Tag("long")
	@Test
	void ordersAndCancelsWithoutRedisButReservesNothing() {
		this.sale.open(4, 4);
		String ordered = this.sale.reserved("ann");
		String cancelled = this.sale.reserved("ann");
		String key = ShopClient.newKey();
		chaos("cut");
		HttpResponse<String> refused = this.sale.reserve("ann", key);
		assertThat(refused.statusCode()).isEqualTo(503);
		assertThat(refused.headers().firstValue("Retry-After")).isPresent();
		assertThat(this.sale.order(ordered).statusCode()).isEqualTo(201);
		assertThat(this.sale.cancel(cancelled).statusCode()).isEqualTo(200);
		assertThat(this.sale.isSoldOutAtTheDoor()).isFalse();
		assertThat(JsonPath.<Object>read(this.sale.view().body(), "$.gate")).isNull();
		chaos("restore");
		Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> this.sale.reserve("ann", key).statusCode() == 201);
		assertThat(JsonPath.<Integer>read(this.sale.view().body(), "$.free")).isEqualTo(2);
	}

	@Test
	void opensASaleWithoutRedisAndSellsWhenItIsBack() {
		chaos("cut");
		this.sale.open(1, 1);
		chaos("restore");
		String key = ShopClient.newKey();
		Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> this.sale.reserve("ann", key).statusCode() == 201);
	}

	private void chaos(String action) {
		assertThat(this.shop.post("/api/chaos/redis", "{\"action\": \"" + action + "\"}").statusCode()).isEqualTo(200);
	}

}
