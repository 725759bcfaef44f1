package dev.idempotent.sample.chaos;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

	@ParameterizedTest
	@ValueSource(strings = { "fail=before-commit", "halt=in-handler", "halt=before-commit", "halt=after-commit",
			"halt=before-complete", "explode=now" })
	void ignoresTheHeader(String chaos) {
		assertThat(this.shop
			.post("/api/orders", ShopClient.orderOf("ann", 1), "Idempotency-Key", ShopClient.newKey(), "X-Chaos", chaos)
			.statusCode()).isEqualTo(201);
	}

}
