package dev.idempotent.sample.page;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

import com.microsoft.playwright.Browser.NewPageOptions;
import com.microsoft.playwright.ConsoleMessage;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.Route.ResumeOptions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.Sagas;
import dev.idempotent.sample.CouponShopApplication;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.page.ConsoleIncidents.AuditLog;
import dev.idempotent.sample.page.ConsoleIncidents.Bookings;
import dev.idempotent.sample.page.ConsoleIncidents.Broker;
import dev.idempotent.sample.page.ConsoleIncidents.Door;
import dev.idempotent.sample.page.ConsoleIncidents.Producer;
import dev.idempotent.sample.page.ConsoleIncidents.Warehouse;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.TestPropertySource;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what an operator sees and does on the console, and what becomes of it.
 */
@ShopTest
@Import(ConsoleIncidents.class)
@TestPropertySource(properties = { "idempotent.outbox.on-dead=block", "idempotent.namespace=shop-of-the-console" })
@TestInstance(Lifecycle.PER_CLASS)
class ConsoleIntegrationTests {

	private static final String NOTE = "Ticket 42";

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final int MANY = 100_000;

	private final Chromium browser = new Chromium();

	private final List<String> failures = new ArrayList<>();

	private final int port;

	@Autowired
	private Door door;

	@Autowired
	private Broker broker;

	@Autowired
	private Producer producer;

	@Autowired
	private Warehouse warehouse;

	@Autowired
	private Bookings bookings;

	@Autowired
	private Sagas sagas;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private AuditLog audit;

	@Autowired
	private HikariDataSource database;

	@Autowired
	private LettuceConnectionFactory redis;

	private Page page;

	ConsoleIntegrationTests(@LocalServerPort int port) {
		this.port = port;
	}

	@BeforeEach
	void begin() {
		this.door.open();
		this.broker.breakDown();
		this.warehouse.breakDown();
		this.jdbc.sql("truncate outbox_dead").update();
		this.jdbc.sql("delete from outbox_event").update();
		this.jdbc.sql("delete from outbox_control").update();
		this.jdbc.sql("delete from saga_step").update();
		this.jdbc.sql("delete from saga_instance").update();
		this.failures.clear();
		this.audit.clear();
		this.page = newPage(ColorScheme.LIGHT, 1280);
	}

	@AfterEach
	void end() {
		this.page.context().close();
		assertThat(this.failures).isEmpty();
	}

	@AfterAll
	void close() {
		this.browser.close();
	}

	@Test
	void findsADeadEventAndRetriesIt() {
		String id = dieOnce("parcel.sent");
		open("");
		item("1 dead event").getByRole(AriaRole.LINK).click();
		assertThat(heading("Dead events")).isVisible();
		link("parcel.sent").click();
		assertThat(region("Event")).containsText(Broker.REASON);
		this.broker.repair();
		button("Retry event " + id).click();
		assertThat(dialog()).containsText("The event " + id + " of the type parcel.sent for the topic broker:parcels.");
		dialog().getByRole(AriaRole.TEXTBOX).fill(NOTE);
		confirm("Retry");
		assertThat(result()).containsText("1 event retried.");
		awaitDelivered("parcel.sent");
		assertThat(this.page.getByText("Not stored any more")).isVisible();
		assertThat(rows("outbox_dead")).isZero();
		assertThat(audited("OUTBOX_EVENTS_RETRIED")).containsEntry("id", id)
			.containsEntry("number", 1)
			.containsEntry("note", NOTE)
			.containsEntry("outcome", "DONE");
	}

	@Test
	void opensABlockedKeyAndWhatWaitsBehindIt() {
		this.producer.appendInOrder("parcel-7", List.of("parcel.packed", "parcel.sent", "parcel.received"));
		awaitRows("outbox_event where due_at > now() + interval '1 year'", 1);
		open("#events/blocked");
		link("parcel.packed").click();
		Locator queue = this.page.getByRole(AriaRole.TABLE,
				new Page.GetByRoleOptions().setName("Events of the same key, in the order of delivery"));
		assertThat(queue.getByRole(AriaRole.ROWHEADER))
			.containsText(new String[] { "parcel.packed", "parcel.sent", "parcel.received" });
		assertThat(queue.getByRole(AriaRole.ROW).nth(1)).containsText("first: the others wait for it");
		assertThat(queue.getByRole(AriaRole.ROW).nth(2)).containsText("behind");
		assertThat(this.page.locator("body")).not().containsText("parcel-7");
		this.broker.repair();
		this.page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(Pattern.compile("^Retry event")))
			.click();
		confirm("Retry");
		assertThat(result()).containsText("1 event retried.");
		awaitDelivered("parcel.packed", "parcel.sent", "parcel.received");
		assertThat(audited("OUTBOX_BLOCKED_RETRIED")).containsEntry("outcome", "DONE").doesNotContainKey("note");
	}

	@Test
	void resolvesAHaltedSagaByHand() {
		IdempotencyKey id = halt();
		open("");
		item("1 halted saga").getByRole(AriaRole.LINK).click();
		link("booking").click();
		assertThat(region("Saga")).containsText("The step 'hold' could not be undone: " + Warehouse.REASON);
		assertThat(region("Saga")).containsText("undo it by hand and skip the step");
		button("Skip step hold").click();
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Skip")).click();
		assertThat(dialog()).isVisible();
		assertThat(step(id, "hold")).isNotEqualTo("SKIPPED");
		dialog().getByRole(AriaRole.TEXTBOX).fill("Booked out by hand");
		confirm("Skip");
		assertThat(result()).containsText("The step hold is skipped.");
		assertThat(region("Steps")).containsText("Note: Booked out by hand");
		assertThat(button("Skip step hold")).hasCount(0);
		button("Retry the saga").click();
		confirm("Retry");
		assertThat(region("Saga")).containsText("Compensated");
		assertThat(this.sagas.find(id)).map(SagaSnapshot::status).contains(SagaStatus.COMPENSATED);
		assertThat(step(id, "hold")).isEqualTo("SKIPPED");
		assertThat(audited("SAGA_STEP_SKIPPED")).containsEntry("id", id.digest())
			.containsEntry("step", "hold")
			.containsEntry("note", "Booked out by hand");
		assertThat(audited("SAGA_RETRIED")).containsEntry("id", id.digest()).containsEntry("outcome", "DONE");
	}

	@Test
	void retriesAHaltedSagaWhoseCauseIsCorrected() {
		IdempotencyKey id = halt();
		open("#sagas/" + id.digest());
		this.warehouse.repair();
		button("Retry the saga").click();
		confirm("Retry");
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.sagas.find(id).map(SagaSnapshot::status).orElseThrow(), SagaStatus.COMPENSATED::equals);
		assertThat(step(id, "hold")).isEqualTo("COMPENSATED");
	}

	@Test
	void looksAKeyUpByItsValueAndFreesIt() {
		List<String> seen = new ArrayList<>();
		this.page.onConsoleMessage((ConsoleMessage message) -> seen.add(message.text()));
		this.page.onRequest((Request request) -> seen.add(request.url()));
		String key = "key-" + UUID.randomUUID();
		String user = ShopClient.newUser();
		String first = placeOrder(key, user);
		assertThat(placeOrder(key, user)).isEqualTo(first);
		open("#keys");
		this.page.getByLabel("Key, as the client has sent it, without quotes").fill(key);
		this.page.getByLabel("Scope, instead of a principal").fill("shop");
		button("Look up").click();
		assertThat(region("Key")).containsText("The work is done: retries get the stored response.");
		button("Forget the key").click();
		assertThat(dialog()).containsText("a retry of a payment pays again");
		dialog().getByRole(AriaRole.TEXTBOX).fill(NOTE);
		confirm("Forget");
		assertThat(result()).containsText("The key is forgotten.");
		assertThat(placeOrder(key, user)).isNotEqualTo(first);
		assertThat(audited("IDEMPOTENCY_KEY_FORGOTTEN")).containsEntry("note", NOTE).containsEntry("outcome", "DONE");
		seen.add(this.page.content());
		seen.add((String) this.page
			.evaluate("JSON.stringify([location.href, history.state, {...localStorage}, {...sessionStorage}])"));
		assertThat(seen).noneMatch((text) -> text.contains(key));
		assertThat(this.page.context().cookies()).isEmpty();
	}

	@Test
	void offersNoChangesWithReadOnlyAccess() {
		String id = dieOnce("parcel.sent");
		IdempotencyKey saga = halt();
		try (ConfigurableApplicationContext readOnly = new SpringApplicationBuilder(CouponShopApplication.class,
				ConsoleIncidents.class)
			.run("--server.port=0", "--idempotent.namespace=shop-of-the-console",
					"--spring.datasource.url=" + this.database.getJdbcUrl(),
					"--spring.datasource.username=" + this.database.getUsername(),
					"--spring.datasource.password=" + this.database.getPassword(),
					"--spring.data.redis.host=" + this.redis.getHostName(),
					"--spring.data.redis.port=" + this.redis.getPort(), "--management.endpoint.outbox.access=read-only",
					"--management.endpoint.saga.access=read-only",
					"--management.endpoint.idempotency.access=read-only")) {
			String address = "http://127.0.0.1:" + readOnly.getEnvironment().getProperty("local.server.port")
					+ "/actuator/console";
			this.page.navigate(address + "#events/dead");
			assertThat(link("parcel.sent")).isVisible();
			assertThat(changes()).hasCount(0);
			link("parcel.sent").click();
			assertThat(region("Event")).containsText(id);
			assertThat(changes()).hasCount(0);
			this.page.navigate(address + "#sagas/" + saga.digest());
			assertThat(region("Saga")).containsText(Warehouse.REASON);
			assertThat(changes()).hasCount(0);
			this.page.navigate(address + "#keys");
			assertThat(button("Look up")).isDisabled();
		}
	}

	@Test
	void showsNoPayloadUnlessAPropertyAllowsIt() {
		String id = dieOnce("parcel.sent");
		open("#events/dead/" + id);
		button("Show the payload").click();
		assertThat(dialog()).containsText("management.endpoint.outbox.show-payloads");
		assertThat(this.audit.events()).isEmpty();
	}

	@Test
	void showsWhatEventsCarryAsText() {
		String type = "<img src=x onerror=alert(1)>";
		this.producer.append(type);
		awaitRows("outbox_dead", 1);
		open("#events/dead");
		assertThat(link(type)).isVisible();
		assertThat(this.page.locator("img")).hasCount(0);
	}

	@Test
	void pausesATopicAndResumesIt() {
		this.broker.repair();
		open("#events/topics");
		this.page.getByLabel("Topic", new Page.GetByLabelOptions().setExact(true)).fill(Producer.TOPIC);
		button("Pause").click();
		confirm("Pause");
		assertThat(result()).containsText("The topic broker:parcels is paused.");
		this.producer.append("parcel.sent");
		open("#events/topics");
		assertThat(region("Paused and unavailable topics")).containsText("broker:parcels");
		assertThat(rows("outbox_event")).isOne();
		button("Resume topic broker:parcels").click();
		confirm("Resume");
		awaitDelivered("parcel.sent");
		assertThat(audited("OUTBOX_TOPIC_PAUSED")).containsEntry("topic", Producer.TOPIC);
		assertThat(audited("OUTBOX_TOPIC_RESUMED")).containsEntry("topic", Producer.TOPIC);
	}

	@Test
	void worksBehindThePrefixOfAProxy() {
		dieOnce("parcel.sent");
		List<String> beside = new ArrayList<>();
		this.page.route(Pattern.compile(".*/actuator/.*"), (route) -> {
			String url = route.request().url();
			if (!url.contains("/shop/actuator/")) {
				beside.add(url);
			}
			route.resume(new ResumeOptions().setUrl(url.replace("/shop/actuator/", "/actuator/")));
		});
		this.page.navigate("http://127.0.0.1:" + this.port + "/shop/actuator/console#events/dead");
		assertThat(link("parcel.sent")).isVisible();
		assertThat(beside).isEmpty();
	}

	@Test
	void saysThatAccessIsMissing() {
		this.door.close(403);
		open("");
		assertThat(region("Needs attention")).containsText("The session has ended or access is missing");
		open("#events/dead");
		assertThat(region("Dead events")).containsText("The session has ended or access is missing");
		assertThat(changes()).hasCount(0);
	}

	@Test
	void changesNothingOnceTheSessionHasEnded() {
		String id = dieOnce("parcel.sent");
		open("#events/dead");
		button("Discard event " + id).click();
		dialog().getByRole(AriaRole.TEXTBOX).fill(NOTE);
		this.door.close(401);
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Discard")).click();
		assertThat(dialog().getByRole(AriaRole.ALERT)).containsText("The session has ended or access is missing.");
		assertThat(dialog().getByRole(AriaRole.TEXTBOX)).hasValue(NOTE);
		assertThat(result()).isEmpty();
		assertThat(rows("outbox_dead")).isOne();
	}

	@Test
	void discardsNoEventThatDiedAfterTheListWasRead() {
		dieOnce("parcel.sent");
		open("#events/dead");
		button("Discard all dead events").click();
		assertThat(dialog()).containsText("but none that died after this list was read");
		dieOnce("parcel.lost");
		dialog().getByRole(AriaRole.TEXTBOX).fill(NOTE);
		confirm("Discard");
		assertThat(result()).containsText("1 event discarded.");
		assertThat(link("parcel.lost")).isVisible();
		assertThat(rows("outbox_dead")).isOne();
	}

	@Test
	void pagesThroughAHundredThousandDeadEvents() {
		this.jdbc
			.sql("""
					insert into outbox_dead (lane, sequence, event_id, topic, type, content_type, payload, headers, attempts,
						created_at, last_error)
					select n, n, gen_random_uuid(), 'broker:parcels', 'parcel.' || n, 'application/json', '{}', '{}', 10,
						clock_timestamp(), 'The broker has no topic of this name'
					from generate_series(1, :number) n
					""")
			.param("number", MANY)
			.update();
		open("");
		assertThat(region("Needs attention")).containsText("10,000 dead events or more");
		open("#events/dead");
		assertThat(this.page.getByRole(AriaRole.ROWHEADER)).hasCount(50);
		assertThat(link("parcel.50")).isVisible();
		link("Next page").click();
		assertThat(link("parcel.100")).isVisible();
		assertThat(this.page.getByRole(AriaRole.ROWHEADER)).hasCount(50);
		this.page.getByLabel("Type").fill("parcel." + MANY);
		button("Filter").click();
		assertThat(this.page.getByText("None among the rows examined so far. Continue with the next page."))
			.isVisible();
		Locator last = link("parcel." + MANY);
		while (last.count() == 0) {
			String shown = link("Next page").getAttribute("href");
			link("Next page").click();
			Locator next = this.page.locator("a:text-is('Next page'):not([href='" + shown + "'])");
			assertThat(last.or(next).first()).isVisible();
		}
	}

	@Test
	void needsNoMouse() {
		String id = dieOnce("parcel.sent");
		this.broker.repair();
		open("#events/dead");
		assertThat(button("Retry event " + id)).isVisible();
		focus(button("Retry event " + id));
		this.page.keyboard().press("Enter");
		assertThat(dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Retry"))).isFocused();
		this.page.keyboard().press("Escape");
		assertThat(dialog()).hasCount(0);
		assertThat(button("Retry event " + id)).isFocused();
		this.page.keyboard().press("Enter");
		this.page.keyboard().press("Enter");
		awaitDelivered("parcel.sent");
		assertThat(heading("Dead events")).isFocused();
	}

	@ParameterizedTest
	@CsvSource({ "LIGHT, 1280", "DARK, 1280", "LIGHT, 360" })
	void staysReadable(ColorScheme scheme, int width) {
		dieOnce("invoice.sent");
		dieOnce("invoice.reminded");
		this.producer.appendInOrder("parcel-7", List.of("parcel.packed", "parcel.sent", "parcel.received"));
		awaitRows("outbox_event where due_at > now() + interval '1 year'", 1);
		IdempotencyKey saga = halt();
		this.page.close();
		this.page = newPage(scheme, width);
		open("");
		assertThat(region("Needs attention")).containsText("1 halted saga");
		assertThat(region("Needs attention")).containsText("1 blocked key");
		Chromium.screenshot(this.page, "console", scheme, width);
		open("#events/dead");
		assertThat(link("invoice.sent")).isVisible();
		Chromium.screenshot(this.page, "console-dead", scheme, width);
		open("#events/blocked");
		link("parcel.packed").click();
		assertThat(region("Events of the same key")).containsText("parcel.received");
		Chromium.screenshot(this.page, "console-blocked", scheme, width);
		open("#sagas/" + saga.digest());
		assertThat(region("Steps")).containsText("charge");
		Chromium.screenshot(this.page, "console-saga", scheme, width);
		button("Skip step hold").click();
		Chromium.screenshot(this.page, "console-dialog", scheme, width);
		this.page.keyboard().press("Escape");
		open("#keys");
		assertThat(button("Look up")).isVisible();
		Chromium.screenshot(this.page, "console-keys", scheme, width);
	}

	private Page newPage(ColorScheme scheme, int width) {
		Page opened = this.browser
			.newPage(new NewPageOptions().setColorScheme(scheme).setViewportSize(width, 900).setLocale("en-US"));
		opened.onPageError(this.failures::add);
		return opened;
	}

	private void open(String fragment) {
		this.page.navigate("http://127.0.0.1:" + this.port + "/actuator/console" + fragment);
	}

	private Locator item(String text) {
		return region("Needs attention").getByRole(AriaRole.ROW,
				new Locator.GetByRoleOptions().setName(Pattern.compile("^" + text)));
	}

	private Locator region(String name) {
		return this.page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName(name).setExact(true));
	}

	private Locator heading(String name) {
		return this.page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName(name));
	}

	private Locator link(String name) {
		return this.page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
	}

	private Locator button(String name) {
		return this.page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
	}

	private Locator changes() {
		return this.page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions()
			.setName(Pattern.compile("^(Retry|Skip|Abort|Close|Discard|Pause|Resume|Release|Forget)")));
	}

	private Locator dialog() {
		return this.page.getByRole(AriaRole.DIALOG);
	}

	private Locator result() {
		return this.page.getByRole(AriaRole.STATUS);
	}

	private void confirm(String verb) {
		dialog().getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(verb)).click();
		assertThat(dialog()).hasCount(0);
	}

	private void focus(Locator target) {
		for (int presses = 0; presses < 100; presses++) {
			this.page.keyboard().press("Tab");
			if (target.evaluate("(node) => node === document.activeElement").equals(true)) {
				return;
			}
		}
		throw new AssertionError("The element is not reached by the key Tab");
	}

	/**
	 * Lets an event die, and returns its id.
	 */
	private String dieOnce(String type) {
		long dead = rows("outbox_dead");
		this.producer.append(type);
		awaitRows("outbox_dead", dead + 1);
		return this.jdbc.sql("select event_id from outbox_dead where type = :type")
			.param("type", type)
			.query(UUID.class)
			.single()
			.toString();
	}

	private IdempotencyKey halt() {
		IdempotencyKey id = this.bookings.start();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.sagas.find(id).map(SagaSnapshot::status).orElseThrow(), SagaStatus.HALTED::equals);
		return id;
	}

	private String step(IdempotencyKey saga, String name) {
		return this.jdbc.sql("select state from saga_step where saga_id = :id and name = :name")
			.param("id", saga.digest())
			.param("name", name)
			.query(String.class)
			.single();
	}

	private String placeOrder(String key, String user) {
		return new ShopClient(this.port)
			.post("/api/orders", ShopClient.orderOf(user, 1), "Idempotency-Key", '"' + key + '"')
			.body();
	}

	private long rows(String table) {
		return this.jdbc.sql("select count(*) from " + table).query(Long.class).single();
	}

	private void awaitRows(String table, long number) {
		Awaitility.await().atMost(PATIENCE).until(() -> rows(table), (rows) -> rows == number);
	}

	private void awaitDelivered(String... types) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.broker.delivered()).containsExactly(types));
	}

	/**
	 * Returns the data of the only change, which is of a type.
	 */
	private Map<String, Object> audited(String type) {
		List<AuditEvent> events = this.audit.events().stream().filter((event) -> event.getType().equals(type)).toList();
		assertThat(events).extracting(AuditEvent::getPrincipal).containsExactly(ConsoleIncidents.OPERATOR);
		return events.get(0).getData();
	}

}
