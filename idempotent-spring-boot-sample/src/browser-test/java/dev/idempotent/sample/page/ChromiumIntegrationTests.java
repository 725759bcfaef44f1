package dev.idempotent.sample.page;

import com.microsoft.playwright.Browser.NewPageOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions.HasTextOptions;
import com.microsoft.playwright.options.ColorScheme;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.TestPropertySource;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

@ShopTest
@TestPropertySource(properties = "sample.sale.hold=2s")
class ChromiumIntegrationTests {

	/**
	 * A second JVM starts first, or units are held.
	 */
	private static final HasTextOptions PATIENTLY = new HasTextOptions().setTimeout(60_000);

	private final String address;

	private final Chromium browser = new Chromium();

	ChromiumIntegrationTests(@LocalServerPort int port) {
		this.address = "http://127.0.0.1:" + port + "/";
	}

	@AfterEach
	void close() {
		this.browser.close();
	}

	@ParameterizedTest
	@CsvSource({ "LIGHT, 1280", "DARK, 1280", "LIGHT, 360" })
	void tellsTheStoryOfEachKey(ColorScheme scheme, int width) {
		Page page = this.browser.newPage(new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 900));
		page.navigate(this.address);
		sendFiveAtOnce(page);
		letRepeatsWait(page);
		loseAnAnswer(page);
		page.locator("#compare").click();
		assertThat(page.locator("#lease-verdict")).containsText("ordered twice");
		assertThat(page.locator("#transaction-verdict")).containsText("1 order");
		assertThat(page.locator("#chart .bar")).not().hasCount(0);
		assertThat(page.locator("#sent")).hasText("12");
		assertThat(page.locator("#made")).hasText("3");
		Chromium.screenshot(page, "orders", scheme, width);
	}

	@ParameterizedTest
	@CsvSource({ "LIGHT, 1280", "DARK, 360" })
	void tellsTheStoryOfACheckout(ColorScheme scheme, int width) {
		Page page = this.browser.newPage(new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 900));
		page.navigate(this.address);
		choose(page, "crash", "after-call");
		page.locator("#check-out").click();
		assertThat(page.locator("#saga-sentence")).hasText("Complete: each step took effect once.", PATIENTLY);
		assertThat(page.locator("#saga-steps .kind-ran.saga-step")).hasCount(3);
		assertThat(page.locator("#saga-effects")).hasText("In the services: 1 order, 1 charge, 10 points.");
		Chromium.screenshot(page, "saga", scheme, width);
	}

	@ParameterizedTest
	@CsvSource({ "LIGHT, 1280", "DARK, 1280", "LIGHT, 360" })
	void tellsTheStoryOfARush(ColorScheme scheme, int width) {
		Page page = this.browser.newPage(new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 900));
		page.navigate(this.address + "flash-sale.html");
		page.locator("#users").fill("200");
		page.locator("#start").click();
		assertThat(page.locator("#rush-state")).hasText("The rush is over.", PATIENTLY);
		assertThat(page.locator("#verdict")).hasText("✓ All lines hold: no unit was sold twice, none was lost.",
				PATIENTLY);
		page.locator("#redis-wipe").click();
		assertThat(page.locator("#rush-chart .fault")).hasText("wiped");
		page.locator("#open").click();
		page.locator("#reserve").click();
		assertThat(page.locator("#answers .answer.kind-ran")).hasCount(2);
		page.locator("#reserve-again").click();
		assertThat(page.locator("#answers .answer.kind-replayed")).hasCount(1);
		Chromium.screenshot(page, "flash-sale", scheme, width);
	}

	@ParameterizedTest
	@CsvSource({ "LIGHT, 1280", "DARK, 360" })
	void placesOneOrderPerFormWithoutJavaScript(ColorScheme scheme, int width) {
		Page page = this.browser.newPage(
				new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 700).setJavaScriptEnabled(false));
		page.navigate(this.address + "forms/orders/new");
		page.locator("#userId").fill("visitor-" + scheme + width);
		page.locator("#amount").fill("0");
		page.locator("button").click();
		assertThat(page.locator(".error")).hasCount(1);
		Chromium.screenshot(page, "form-errors", scheme, width);
		page.locator("#amount").fill("2");
		page.locator("button").dblclick();
		String order = page.locator("#order-id").textContent();
		page.reload();
		assertThat(page.locator("#order-id")).hasText(order);
		assertThat(page.locator("#orders tbody tr")).hasCount(1);
		Chromium.screenshot(page, "form-placed", scheme, width);
		page.locator("nav a[aria-current]").click();
		page.locator("#userId").fill("visitor-" + scheme + width);
		page.locator("button").click();
		assertThat(page.locator("#orders tbody tr")).hasCount(2);
		order = page.locator("#order-id").textContent();
		page.goBack();
		assertThat(page.locator("#userId")).hasValue("visitor-" + scheme + width);
		page.locator("button").click();
		assertThat(page.locator("#order-id")).hasText(order);
		assertThat(page.locator("#orders tbody tr")).hasCount(2);
		page.goBack();
		page.locator("#amount").fill("3");
		page.locator("button").click();
		assertThat(page.locator("#problem-title")).hasText("422 Idempotency key reused");
		Chromium.screenshot(page, "form-problem", scheme, width);
		page.locator("main a").click();
		assertThat(page.locator("#amount")).hasValue("1");
	}

	private void sendFiveAtOnce(Page page) {
		choose(page, "trouble", "delay=2000");
		page.locator("#five-times").click();
		assertThat(marks(page, "in-progress")).hasCount(4);
		assertThat(marks(page, "ran")).hasCount(1);
		assertThat(page.locator("#sentence"))
			.hasText("5 requests were sent; 1 order was made; 4 came while the first was running (409).");
	}

	private void letRepeatsWait(Page page) {
		choose(page, "handler", "/api/orders/wait");
		page.locator("#five-times").click();
		assertThat(marks(page, "waited")).hasCount(4);
		assertThat(page.locator("#sentence"))
			.hasText("5 requests were sent; 1 order was made; 4 waited and got the same response.");
	}

	private void loseAnAnswer(Page page) {
		choose(page, "handler", "/api/orders");
		choose(page, "trouble", "lost");
		page.locator("#place").click();
		assertThat(page.locator("#sentence")).hasText("1 request was sent; 1 order was made; 1 response was lost.");
		choose(page, "trouble", "");
		page.locator("#place").click();
		assertThat(page.locator("#sentence"))
			.hasText("2 requests were sent; 1 order was made; 1 got the stored response; 1 response was lost.");
	}

	private static void choose(Page page, String name, String value) {
		page.locator("label:has(input[name=" + name + "][value='" + value + "'])").click();
	}

	private static Locator marks(Page page, String kind) {
		return page.locator("#lanes .lane").first().locator(".mark.kind-" + kind);
	}

}
