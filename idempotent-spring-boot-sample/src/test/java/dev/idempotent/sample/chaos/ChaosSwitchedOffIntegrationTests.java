package dev.idempotent.sample.chaos;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
@TestPropertySource(properties = "sample.chaos.enabled=false")
class ChaosSwitchedOffIntegrationTests {

	private final ShopClient shop;

	ChaosSwitchedOffIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
	}

	@Test
	void ignoresTheHeader() {
		assertThat(this.shop
			.post("/api/orders", ShopClient.orderOf("ann", 1), "Idempotency-Key", ShopClient.newKey(), "X-Chaos",
					"fail=before-commit")
			.statusCode()).isEqualTo(201);
	}

}
