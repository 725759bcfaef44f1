package dev.idempotent.sample.page;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.microsoft.playwright.Browser.NewPageOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.Route.FulfillOptions;
import com.microsoft.playwright.options.AriaRole;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.io.ClassPathResource;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the console makes of answers that do not come from the endpoints, or
 * have texts of others.
 */
@TestInstance(Lifecycle.PER_CLASS)
class ConsoleAnswersIntegrationTests {

	private static final String SAGA = "a".repeat(64);

	private static final String KEY = "b".repeat(64);

	private static final String HALTED = """
			{"saga":{"id":"%s","name":"booking","status":"HALTED","reason":"The step 'hold' could not be undone: %s",
			"attempts":0,"createdAt":"2026-03-01T03:04:11Z","deadline":"2026-03-01T03:14:11Z","haltedIn":"COMPENSATING",
			"haltedAt":"2026-03-01T03:04:12Z"},"haltedStep":"hold","steps":[{"name":"hold","kind":"COMPENSATED_CALL",
			"state":"DONE","refusedUndos":1,"stuck":true,"begunAt":"2026-03-01T03:04:11Z","actionKey":"c","undoKey":"d"}],"meaning":"M"}
			""";

	private static final String COMPLETED = """
			{"digest":"%s","place":"store","key":{"state":"COMPLETED","since":"2026-03-01T03:04:11.207Z",
			"remaining":"PT1H","guarantee":"LEASE"},"meaning":"The work is done"}
			""".formatted(KEY);

	private static final String OVERVIEW = """
			{"backlog":null,"delayed":{"events":0,"exact":true},"dead":{"events":1,"exact":true},"relay":{"running":true,
			"unavailablePublishers":[],"unavailableDestinations":[],"pausedTopics":[]}}
			""";

	private static final String LOGIN_PAGE = "<!doctype html><title>Log in</title>";

	private final Chromium browser = new Chromium();

	private final Map<String, FulfillOptions> answers = new ConcurrentHashMap<>();

	private final List<Request> changes = new ArrayList<>();

	private Page page;

	@BeforeEach
	void begin() throws IOException {
		this.answers.clear();
		this.changes.clear();
		this.page = this.browser.newPage(new NewPageOptions().setLocale("en-US"));
		this.page.route("**/actuator/**", this::answer);
		String html = new ClassPathResource("dev/idempotent/console/console.html")
			.getContentAsString(StandardCharsets.UTF_8);
		answer("GET console", 200,
				html.replace("id=\"console\">null</script>",
						"""
								id="console">{"application":"shop","path":"/actuator/console","csrf":{"header":"X-CSRF-TOKEN","token":"t"},
								"endpoints":{"outbox":{"path":"/actuator/outbox","write":true},"saga":{"path":"/actuator/saga","write":true},
								"idempotency":{"path":"/actuator/idempotency","write":true},
								"metrics":{"path":"/actuator/metrics","write":false}}}</script>
								""")
					.replace("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">", ""));
		answer("GET saga/" + SAGA, 200, HALTED.formatted(SAGA, "No"));
		answer("GET idempotency/" + KEY, 200, COMPLETED);
		answer("GET outbox", 200, OVERVIEW);
	}

	@AfterEach
	void end() {
		this.page.context().close();
	}

	@AfterAll
	void close() {
		this.browser.close();
	}

	@ParameterizedTest
	@CsvSource({ "200, <!doctype html>", "200, {}", "200, ''", "204, ''", "502, <!doctype html>", "500, {}",
			"504, ''" })
	void saysThatTheOutcomeOfAChangeIsUnknownUnlessTheEndpointStatesIt(int status, String body) {
		answer("POST saga/" + SAGA + "/skip", status, body);
		open("#sagas/" + SAGA);
		button("Skip step hold").click();
		dialog().getByRole(AriaRole.TEXTBOX).fill("Undone by hand");
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Skip")).click();
		assertThat(dialog().getByRole(AriaRole.ALERT)).containsText("Whether the change was made is unknown.");
		assertThat(result()).isEmpty();
	}

	@Test
	void doesNotTakeALoginPageForAnAnswer() {
		answer("POST idempotency/" + KEY + "/forget", 200, LOGIN_PAGE);
		open("#keys/" + KEY);
		button("Forget the key").click();
		dialog().getByRole(AriaRole.TEXTBOX).fill("Ticket 42");
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Forget")).click();
		assertThat(dialog().getByRole(AriaRole.ALERT)).containsText("did not come from it");
		answer("GET idempotency/" + KEY, 200, LOGIN_PAGE);
		this.page.keyboard().press("Escape");
		assertThat(this.page.locator("main")).containsText("did not come from it");
	}

	@Test
	void changesOnlyTheRunOfAKeyThatItHasShown() {
		answer("POST idempotency/" + KEY + "/forget", 409, "{\"problem\":\"P\",\"action\":\"A\"}");
		open("#keys/" + KEY);
		button("Forget the key").click();
		dialog().getByRole(AriaRole.TEXTBOX).fill("Ticket 42");
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Forget")).click();
		assertThat(dialog().getByRole(AriaRole.ALERT)).containsText("P.");
		assertThat(dialog()).not().containsText("unknown");
		assertThat(this.changes).singleElement()
			.satisfies((change) -> assertThat(change.postData()).contains("\"since\":\"2026-03-01T03:04:11.207Z\""));
	}

	@Test
	void tellsTheResultOfAChangeWhoseDialogWasLeft() {
		List<Route> held = new ArrayList<>();
		this.page.route("**/retry", held::add);
		open("#sagas/" + SAGA);
		button("Retry the saga").click();
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Retry")).dblclick();
		this.page.keyboard().press("Escape");
		this.page.keyboard().press("Escape");
		this.page.waitForCondition(() -> !held.isEmpty());
		assertThat(held).hasSize(1);
		held.get(0).abort();
		assertThat(this.page.getByText("Whether the change was made is unknown.")).isVisible();
	}

	@Test
	void repeatsAChangeWithTheTokenOfTheCookieIfThatOfThePageIsRefused() {
		this.page.route("**/retry", (route) -> {
			String token = route.request().headerValue("X-CSRF-TOKEN");
			if ("of-the-cookie".equals(token)) {
				route.fulfill(json(200, HALTED.formatted(SAGA, "No")));
			}
			else {
				route.fulfill(json(403, "{\"status\":403}"));
			}
		});
		open("#sagas/" + SAGA);
		this.page.evaluate("document.cookie = 'XSRF-TOKEN=of-the-cookie; path=/'");
		button("Retry the saga").click();
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Retry")).click();
		assertThat(result()).containsText("The saga booking is retried.");
	}

	@Test
	void showsTextOfOthersAsText() {
		String hostile = "<img src=x onerror=document.title=1></script>\\\"'\\u202e\\u0000\\ud83d" + "x".repeat(1000);
		answer("GET saga/" + SAGA, 200, HALTED.formatted(SAGA, hostile));
		open("#sagas/" + SAGA);
		assertThat(this.page.locator("main")).containsText("<img src=x onerror=document.title=1></script>\"'");
		assertThat(this.page.locator("img")).hasCount(0);
		assertThat((String) this.page.evaluate("document.body.textContent")).doesNotContain("\u202e");
	}

	@Test
	void showsAnAnswerBeforeTheOthersArrive() {
		List<Route> held = new ArrayList<>();
		this.page.route("**/actuator/saga", held::add);
		open("");
		assertThat(region("Needs attention")).containsText("1 dead event");
		assertThat(region("Needs attention")).containsText("Not answered yet: saga.");
		assertThat(this.page.getByText("Nothing needs attention")).hasCount(0);
		held.get(0).fulfill(json(404, "{}"));
		assertThat(region("Needs attention")).not().containsText("Not answered yet");
		assertThat(this.page.locator("#freshness")).containsText("As of");
	}

	@Test
	void namesAKeyThatHasBeenRunningForLong() {
		answer("GET idempotency", 200, """
				{"store":"Redis","running":1,"waiting":0,"oldestUnsettledAge":"PT4M12S","counts":[]}
				""");
		open("");
		assertThat(region("Needs attention")).containsText("A key has been running for 4\u00a0min\u00a012\u00a0s");
	}

	@Test
	void showsOnlyTheRatesThatAreNotZero() {
		List<Route> deliveries = new ArrayList<>();
		this.page.route("**/actuator/metrics/outbox.delivered", (route) -> {
			deliveries.add(route);
			route.fulfill(json(200, meter(100 * deliveries.size())));
		});
		answer("GET metrics", 200, "{\"names\":[\"outbox.delivered\",\"outbox.retried\",\"outbox.dead\"]}");
		answer("GET metrics/outbox.retried", 200, meter(0));
		answer("GET metrics/outbox.dead", 200, meter(4));
		open("");
		assertThat(rates())
			.containsText("Events delivered (100), Attempts that failed (0), Events that became dead (4).");
		assertThat(rates().getByRole(AriaRole.ROWHEADER)).hasText(new String[] { "Events delivered" });
		assertThat(rates()).containsText("Attempts that failed (0), Events that became dead (4).");
	}

	@Test
	void keepsOpenWhatIsReadWhenItReadsAgain() {
		open("#sagas/" + SAGA);
		this.page.locator("summary").click();
		assertThat(this.page.locator("details[open]")).hasCount(1);
		button("Refresh").click();
		this.page.waitForResponse("**/saga/*", () -> button("Refresh").click());
		assertThat(this.page.locator("#freshness")).containsText("As of");
		assertThat(this.page.locator("details[open]")).hasCount(1);
	}

	private void answer(Route route) {
		Request request = route.request();
		if (!request.method().equals("GET")) {
			this.changes.add(request);
		}
		String path = URI.create(request.url()).getPath();
		FulfillOptions answer = this.answers.get(request.method() + " " + path.substring("/actuator/".length()));
		route.fulfill((answer != null) ? answer : json(404, "{}"));
	}

	private void answer(String request, int status, String body) {
		this.answers.put(request, json(status, body)
			.setContentType(body.startsWith("<") ? "text/html; charset=utf-8" : "application/json"));
	}

	private static FulfillOptions json(int status, String body) {
		return new FulfillOptions().setStatus(status).setBody(body).setContentType("application/json");
	}

	private void open(String fragment) {
		this.page.navigate("http://shop.test/actuator/console" + fragment);
	}

	private static String meter(int count) {
		return "{\"measurements\":[{\"statistic\":\"COUNT\",\"value\":" + count + "}],\"availableTags\":[]}";
	}

	private Locator rates() {
		return region("Rates of the responding instance, since this page was opened");
	}

	private Locator region(String name) {
		return this.page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName(name).setExact(true));
	}

	private Locator button(String name) {
		return this.page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
	}

	private Locator dialog() {
		return this.page.getByRole(AriaRole.DIALOG);
	}

	private Locator result() {
		return this.page.getByRole(AriaRole.STATUS);
	}

}
