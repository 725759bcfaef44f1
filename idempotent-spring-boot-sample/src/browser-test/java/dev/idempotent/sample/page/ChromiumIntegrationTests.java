package dev.idempotent.sample.page;

import java.util.List;
import java.util.regex.Pattern;

import com.microsoft.playwright.Browser.NewPageOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Locator.FilterOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions.HasTextOptions;
import com.microsoft.playwright.options.ColorScheme;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
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
	@CsvSource({ "LIGHT, 1280", "DARK, 1280", "LIGHT, 400" })
	void tellsTheStoryFromTopToBottom(ColorScheme scheme, int width) {
		Page page = this.browser.newPage(new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 900));
		page.navigate(this.address);
		Chromium.screenshot(page, "story-begin", scheme, width);
		for (int clicks = 0; clicks < 3; clicks++) {
			page.locator("#place").click();
			assertThat(page.locator("#clicks-lane .mark text").filter(new FilterOptions().setHasText("201")))
				.hasCount(clicks + 1);
		}
		List.of("lose", "compare", "start-race", "ship", "check-out", "send-agent")
			.forEach((button) -> page.locator("#" + button).click());
		assertThat(page.locator("#clicks-proof")).hasText("✓ 3 requests with one key, 1 order in PostgreSQL: 1 ran, "
				+ "2 got the stored response, byte for byte.");
		for (String step : List.of("lost", "commit", "race", "shipment", "saga", "agent")) {
			assertThat(page.locator("#" + step + "-proof")).hasText(Pattern.compile("^✓ .*"), PATIENTLY);
		}
		assertThat(page.locator("#saga-steps .kind-ran.saga-step")).hasCount(3);
		Chromium.screenshot(page, "story", scheme, width);
	}

	@ParameterizedTest
	@CsvSource({ "LIGHT, 1280", "DARK, 400" })
	void offersMoreOfEachStep(ColorScheme scheme, int width) {
		Page page = this.browser.newPage(new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 900));
		page.navigate(this.address);
		page.locator("summary").all().forEach(Locator::click);
		choose(page, "pending", "/api/orders/wait");
		page.locator("#five-times").click();
		assertThat(marks(page, "clicks", "waited")).hasCount(4);
		choose(page, "pending", "/api/orders");
		page.locator("#five-times").click();
		assertThat(marks(page, "clicks", "in-progress")).hasCount(4);
		assertThat(marks(page, "clicks", "ran")).hasCount(1);
		choose(page, "trouble", "lost");
		page.locator("#trial-send").click();
		assertThat(page.locator("#trial-proof"))
			.hasText("1 request with one key, 1 order in PostgreSQL: 1 lost its answer.");
		choose(page, "trouble", "");
		page.locator("#trial-send").click();
		assertThat(page.locator("#trial-proof"))
			.hasText("✓ 2 requests with one key, 1 order in PostgreSQL: 1 got the stored response, 1 lost its answer.");
		Chromium.screenshot(page, "story-more", scheme, width);
	}

	@Test
	void needsNoMouse() {
		Page page = this.browser.newPage(new NewPageOptions().setViewportSize(1280, 900));
		page.navigate(this.address);
		focus(page, "place");
		page.keyboard().press("Enter");
		assertThat(page.locator("#clicks-proof")).hasText("1 request, 1 order in PostgreSQL. Now click again.");
		page.keyboard().press("Enter");
		assertThat(page.locator("#clicks-proof")).containsText("✓ 2 requests");
		page.keyboard().press("Tab");
		page.keyboard().press("Enter");
		assertThat(page.locator("#clicks-responses .body")).isVisible();
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
		assertThat(page.locator("#failures"))
			.hasText(Pattern.compile("^$|^\\d+ failed: .* until it got another answer\\.$"));
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

	private static void choose(Page page, String name, String value) {
		page.locator("label:has(input[name=" + name + "][value='" + value + "'])").click();
	}

	private static Locator marks(Page page, String step, String kind) {
		return page.locator("#" + step + "-lane .mark.kind-" + kind);
	}

	private static void focus(Page page, String id) {
		for (int presses = 0; presses < 10; presses++) {
			page.keyboard().press("Tab");
			if (id.equals(page.evaluate("document.activeElement.id"))) {
				return;
			}
		}
		throw new AssertionError("The element is not reached by the key Tab");
	}

}
