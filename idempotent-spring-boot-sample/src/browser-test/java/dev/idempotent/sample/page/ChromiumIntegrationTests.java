package dev.idempotent.sample.page;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Browser.NewPageOptions;
import com.microsoft.playwright.BrowserType.LaunchOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.ScreenshotOptions;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ChromiumIntegrationTests {

	private final String user = ShopClient.newUser();

	private final String address;

	private final JdbcClient jdbc;

	private final Playwright playwright = Playwright.create();

	// Chromium's own sandbox refuses to run as root, and the page is ours.
	private final Browser browser = this.playwright.chromium()
		.launch(new LaunchOptions().setExecutablePath(Path.of(System.getProperty("browser.executable")))
			.setArgs(List.of("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")));

	ChromiumIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.address = "http://127.0.0.1:" + port + "/";
		this.jdbc = jdbc;
	}

	@AfterEach
	void close() {
		this.playwright.close();
	}

	@ParameterizedTest
	@CsvSource({ "LIGHT, 1280", "DARK, 1280", "LIGHT, 390" })
	void placesOneOrderForADoubleClick(ColorScheme scheme, int width) {
		Page page = this.browser.newPage(new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 900));
		page.navigate(this.address);
		page.locator("#user").fill(this.user);
		page.locator("input[value='delay=2000']").check();
		page.locator("#place-twice").click();
		assertThat(page.locator("#answers .status:text-is('201')")).hasCount(1);
		assertThat(page.locator("#answers .status:text-is('409')")).hasCount(1);
		page.locator("#resend").click();
		assertThat(page.locator("#answers .outcome").first()).hasText("Replayed");
		page.locator("#change").click();
		assertThat(page.locator("#answers .status").first()).hasText("422");
		assertThat(page.locator("#orders tr")).hasCount(1);
		assertThat(page.locator("#events tr")).hasCount(1);
		page.locator("input[value='']").check();
		page.locator("#fail-both").click();
		assertThat(page.locator("#lease-orders")).hasText("1");
		page.locator("#retry-both").click();
		assertThat(page.locator("#lease-orders")).hasText("2");
		assertThat(page.locator("#transaction-retry")).hasText("201 Replayed");
		page.screenshot(new ScreenshotOptions().setFullPage(true)
			.setPath(Path.of("target", "browser", scheme.name().toLowerCase(Locale.ROOT) + "-" + width + ".png")));
		assertThat(this.jdbc.sql("select count(*) from orders where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single()).isOne();
	}

}
