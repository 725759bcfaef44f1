package dev.idempotent.sample.page;

import java.io.IOException;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
@TestPropertySource(properties = "management.metrics.enable.idempotency=false")
class MissingMeterIntegrationTests {

	private final int port;

	MissingMeterIntegrationTests(@LocalServerPort int port) {
		this.port = port;
	}

	@Test
	void saysThatThereIsNoMeter() throws IOException {
		try (ShopPage page = new ShopPage(this.port)) {
			page.placeOrder("1 request was sent; 1 order was made.");
			page.awaitTexts("#no-meters", "No idempotency.requests yet. The meter appears with the first request.");
			assertThat(page.isHidden("no-meters")).isFalse();
			assertThat(page.has("#chart li")).isFalse();
		}
	}

}
