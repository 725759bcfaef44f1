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
@TestPropertySource(properties = { "sample.chaos.enabled=false", "management.endpoints.web.exposure.include=health" })
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
	void saysThatTheMetersCannotBeRead() {
		this.page.awaitTexts("#no-meters", "/actuator/prometheus responds with 404. Is the endpoint exposed?");
		assertThat(this.page.isHidden("no-meters")).isFalse();
		assertThat(this.page.has("#chart li")).isFalse();
	}

	@Test
	void saysThatRedisCannotBeSwitched() {
		this.page.awaitTexts("#redis-state",
				"Cannot be switched here. Failures on request are disabled by sample.chaos.enabled.");
		assertThat(List.of("redis-cut", "redis-restore", "redis-wipe")).allMatch(this.page::isDisabled);
	}

}
