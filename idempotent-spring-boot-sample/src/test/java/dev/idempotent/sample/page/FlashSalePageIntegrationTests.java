package dev.idempotent.sample.page;

import java.io.IOException;
import java.util.List;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class FlashSalePageIntegrationTests {

	private final int port;

	private final ShopPage page;

	FlashSalePageIntegrationTests(@LocalServerPort int port) throws IOException {
		this.port = port;
		this.page = new ShopPage(port, "flash-sale.html");
	}

	@AfterEach
	void close() {
		this.page.close();
	}

	@Test
	void saysWhatToDoWhileNoRushIsStarted() {
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).startsWith("Answers"));
		assertThat(this.page.texts("#rush-state").get(0)).startsWith("No rush yet.");
		assertThat(this.page.texts("#verdict")).containsExactly("Nothing to judge yet.");
		assertThat(this.page.isHidden("rush-figures")).isTrue();
		assertThat(List.of("door", "reserve", "reserve-again", "order", "cancel")).allMatch(this.page::isDisabled);
	}

	@Test
	void saysThatTheRushIsUnknown() throws IOException {
		try (ShopPage reloaded = new ShopPage(this.port, "flash-sale.html#unknown")) {
			reloaded.awaitTexts("#connection", "/api/rushes/unknown answers 404. Trying again.");
		}
	}

}
