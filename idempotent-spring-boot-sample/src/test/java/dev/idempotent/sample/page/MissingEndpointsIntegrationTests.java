package dev.idempotent.sample.page;

import java.io.IOException;
import java.util.List;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
@TestPropertySource(properties = "sample.chaos.enabled=false")
class MissingEndpointsIntegrationTests {

	private final ShopPage page;

	MissingEndpointsIntegrationTests(@LocalServerPort int port) throws IOException {
		this.page = new ShopPage(port);
	}

	@AfterEach
	void close() {
		this.page.close();
	}

	@Test
	void saysThatRedisCannotBeSwitched() {
		this.page.awaitTexts("#redis-state",
				"Cannot be switched here. Failures on request are disabled by sample.chaos.enabled.");
		assertThat(List.of("redis-cut", "redis-restore", "redis-wipe")).allMatch(this.page::isDisabled);
	}

	@Test
	void saysThatNoSecondProcessCrashes() {
		this.page.awaitProof("saga",
				"This shop starts no second process (sample.chaos.enabled), so nothing crashes here."::equals);
		assertThat(this.page.texts("#check-out")).containsExactly("Check out");
		assertThat(this.page.isDisabled("saga-crashes")).isTrue();
	}

}
