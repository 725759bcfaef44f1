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
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A browser. Each page has its own session.
 */
final class Chromium implements AutoCloseable {

	private static final String OVERFLOWING = """
			[...document.querySelectorAll('body *')]
				.filter((node) => !node.closest('.visually-hidden, .scroll, .skip, thead'))
				.filter((node) => node.getBoundingClientRect().right > window.innerWidth + 1)
				.map((node) => node.outerHTML.slice(0, 80))
			""";

	private final Playwright playwright = Playwright.create();

	// Chromium's own sandbox refuses to run as root, and the page is ours.
	private final Browser browser = this.playwright.chromium()
		.launch(new LaunchOptions().setExecutablePath(Path.of(System.getProperty("browser.executable")))
			.setArgs(List.of("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")));

	Chromium() {
		// Pages poll, and the machine may be busy.
		PlaywrightAssertions.setDefaultAssertionTimeout(30_000);
	}

	Page newPage(NewPageOptions options) {
		return this.browser.newPage(options);
	}

	/**
	 * Draws the page to {@code target/browser}. Nothing of it may leave the window.
	 */
	static void screenshot(Page page, String name, ColorScheme scheme, int width) {
		assertThat((List<?>) page.evaluate(OVERFLOWING)).isEmpty();
		page.screenshot(new ScreenshotOptions().setFullPage(true)
			.setPath(Path.of("target", "browser",
					name + "-" + scheme.name().toLowerCase(Locale.ROOT) + "-" + width + ".png")));
	}

	@Override
	public void close() {
		this.playwright.close();
	}

}
