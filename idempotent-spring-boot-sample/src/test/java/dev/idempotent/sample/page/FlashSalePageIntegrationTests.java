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
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).startsWith("Available"));
		assertThat(this.page.texts("#rush-state").get(0)).startsWith("No rush yet.");
		assertThat(this.page.texts("#verdict")).containsExactly("Nothing to judge yet.");
		assertThat(this.page.isHidden("rush-figures")).isTrue();
		assertThat(List.of("door", "reserve", "reserve-again", "order", "cancel")).allMatch(this.page::isDisabled);
	}

	@Test
	void saysThatTheRushIsUnknown() throws IOException {
		try (ShopPage reloaded = new ShopPage(this.port, "flash-sale.html#unknown")) {
			reloaded.awaitTexts("#connection", "/api/rushes/unknown responds with 404. Trying again.");
		}
	}

	@Test
	void letsTheVisitorReserveAndOrderAUnit() throws IOException {
		openSale();
		click("door", 2);
		assertThat(this.page.texts("#answers .body").get(0)).contains("\"soldOut\": false");
		click("reserve", 3);
		click("reserve-again", 4);
		assertThat(this.page.texts("#answers .body").subList(0, 2).stream().distinct()).hasSize(1);
		click("order", 5);
		click("order", 6);
		assertThat(click("cancel", 7)).containsExactly("409 Refused", "201 Replayed", "201 Ran", "201 Replayed",
				"201 Ran", "200 Ran", "201 Ran");
		this.page.awaitTexts("#confirmed, #held, #free, #gate-units", "1", "0", "2", "2");
		this.page.awaitTexts("#gate", "PostgreSQL and the gate agree.");
	}

	@Test
	void letsTheVisitorGiveAUnitBack() throws IOException {
		openSale();
		click("reserve", 2);
		assertThat(click("reserve", 3)).startsWith("409 Refused", "201 Ran");
		assertThat(this.page.texts("#answers .body").get(0)).contains("limit-reached");
		assertThat(click("cancel", 4)).startsWith("200 Ran");
		assertThat(click("reserve", 5)).startsWith("201 Ran");
		this.page.awaitTexts("#confirmed, #held, #free, #gate-units", "0", "1", "2", "2");
	}

	private void openSale() throws IOException {
		assertThat(click("open", 1)).containsExactly("201 Ran");
		this.page.awaitTexts("#confirmed, #held, #free, #gate-units", "0", "0", "3", "3");
	}

	/**
	 * Clicks, and waits until the page shows the given number of answers.
	 */
	private List<String> click(String id, int answers) throws IOException {
		this.page.click(id);
		return this.page.awaitOutcomes(answers);
	}

}
