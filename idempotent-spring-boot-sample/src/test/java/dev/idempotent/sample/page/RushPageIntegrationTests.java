package dev.idempotent.sample.page;

import java.io.IOException;
import java.util.List;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("long")
@ShopTest
@TestPropertySource(properties = { "idempotent.namespace=shop-of-the-page", "sample.sale.hold=2s" })
class RushPageIntegrationTests {

	private final int port;

	private final ShopPage page;

	RushPageIntegrationTests(@LocalServerPort int port) throws IOException {
		this.port = port;
		this.page = new ShopPage(port, "flash-sale.html");
	}

	@AfterEach
	void close() {
		this.page.close();
	}

	@Test
	void showsTheVerdictOfARushAlsoAfterAReload() throws IOException {
		startRush("100", "10");
		awaitVerdict();
		assertThat(this.page.texts("#finished")).containsExactly("100 of 100 users have finished");
		assertThat(this.page.has("#rush-chart rect.accepted")).isTrue();
		assertThat(this.page.texts("#accepted-p99, #refused-p99")).allMatch((text) -> text.endsWith(" ms"));
		boolean sold = this.page.texts("#free").equals(List.of("0"));
		this.page.awaitTexts("#left", (texts) -> texts.get(0).isEmpty() == sold);
		assertThat(this.page.isDisabled("start")).isFalse();
		assertThat(this.page.isDisabled("reserve")).isTrue();
		try (ShopPage reloaded = new ShopPage(this.port, "flash-sale.html" + this.page.fragment())) {
			reloaded.awaitTexts("#finished", "100 of 100 users have finished");
		}
	}

	@Test
	void showsThatTheVerdictHoldsAlthoughRedisIsWiped() throws IOException {
		startRush("300", "30");
		this.page.awaitTexts("#held, #confirmed",
				(texts) -> texts.stream().anyMatch((text) -> text.matches("[1-9].*")));
		this.page.click("redis-wipe");
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).contains("wiped"));
		awaitVerdict();
		assertThat(this.page.texts("#rush-chart .fault")).containsExactly("wiped");
	}

	private void startRush(String users, String stock) throws IOException {
		this.page.type("users", users);
		this.page.type("stock", stock);
		this.page.click("start");
	}

	private void awaitVerdict() {
		this.page.awaitTexts("#rush-state", "The rush is over.");
		this.page.awaitTexts("#verdict", (texts) -> texts.get(0).matches("[✓✗].*"));
		assertThat(this.page.texts("#verdict-lines li")).hasSize(6).allMatch((line) -> line.startsWith("✓ HOLDS"));
		this.page.awaitTexts("#verdict", "✓ All lines hold: no unit was sold twice, none was lost.");
	}

}
