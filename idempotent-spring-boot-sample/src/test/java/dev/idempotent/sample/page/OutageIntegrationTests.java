package dev.idempotent.sample.page;

import java.io.IOException;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
@TestPropertySource(properties = { "idempotent.namespace=shop-of-the-page", "sample.sale.hold=2s" })
class OutageIntegrationTests {

	private final ShopClient shop;

	private final ShopPage page;

	OutageIntegrationTests(@LocalServerPort int port) throws IOException {
		this.shop = new ShopClient(port);
		this.page = new ShopPage(port);
	}

	@AfterEach
	void restore() {
		this.page.close();
		this.shop.post("/api/chaos/redis", "{\"action\": \"restore\"}");
	}

	@Test
	void cutsRedisOffAndBringsItBack() throws IOException {
		this.page.tryMore("commit");
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).startsWith("Available"));
		assertThat(this.page.isDisabled("redis-restore")).isTrue();
		this.page.click("redis-cut");
		this.page.awaitTexts("#redis-state", "Cut off");
		assertThat(isAvailable()).isFalse();
		assertThat(this.page.isDisabled("redis-cut")).isTrue();
		this.page.prove("trial-send", "trial", "1 request with one key, 1 order in PostgreSQL: 1 ran.");
		this.page.choose("handler", "/api/orders/lease");
		this.page.prove("trial-send", "trial", "1 request with one key, no order in PostgreSQL: 1 was refused (503).");
		this.page.awaitMarks("trial-lane", "refused");
		this.page.click("redis-restore");
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).startsWith("Available"));
		assertThat(isAvailable()).isTrue();
	}

	@Test
	void findsTheOrderInPostgresqlWhenRedisIsWiped() throws IOException {
		this.page.tryMore("commit");
		this.page.prove("trial-send", "trial", "1 request with one key, 1 order in PostgreSQL: 1 ran.");
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).startsWith("Available"));
		int wipes = wipes();
		this.page.click("redis-wipe");
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).contains("wiped"));
		assertThat(wipes()).isEqualTo(wipes + 1);
		this.page.prove("trial-send", "trial",
				"✓ 2 requests with one key, 1 order in PostgreSQL: 1 ran, 1 got the stored response, byte for byte.");
	}

	private boolean isAvailable() {
		return JsonPath.read(this.shop.get("/api/chaos/redis").body(), "$.available");
	}

	private int wipes() {
		return JsonPath.read(this.shop.get("/api/chaos/redis").body(), "$.wipes");
	}

}
