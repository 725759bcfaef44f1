package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.testing.WebApplication;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the outbox endpoint over HTTP, in an application whose relay runs.
 */
@TestInstance(Lifecycle.PER_CLASS)
abstract class OutboxEndpointRules {

	private static final String KEY = Base64.getEncoder().encodeToString(new byte[32]);

	@SuppressWarnings("NullAway.Init")
	private WebApplication application;

	/**
	 * The properties of the database, as {@code name=value}.
	 */
	abstract List<String> database();

	@BeforeAll
	void start() {
		List<String> properties = new ArrayList<>(List.of(WebApplication.WITH_DATABASE, "idempotent.enabled=false",
				"idempotent.outbox.default-topic=test:orders", "idempotent.outbox.initialize-schema=always",
				"idempotent.outbox.table-prefix=endpoint_", "idempotent.outbox.relay.scan-interval=5m",
				"idempotent.outbox.on-dead=block", "management.endpoints.web.exposure.include=health,outbox",
				"management.endpoint.outbox.show-payloads=always", "idempotent.encryption.keys.k1=" + KEY,
				"idempotent.encryption.active-key=k1", "idempotent.encryption.read-plaintext=true",
				"management.endpoint.health.show-details=always", "management.health.redis.enabled=false"));
		properties.addAll(database());
		this.application = WebApplication.start(Application.class, List::of, properties.toArray(String[]::new));
	}

	@BeforeEach
	void forget() {
		for (String table : List.of("event", "delayed", "dead")) {
			this.application.bean(JdbcTemplate.class).update("delete from endpoint_" + table);
		}
		audits();
		publisher().published().clear();
		publisher().answer((event) -> new Outcome.Reject("The broker knows no such topic"));
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	@Test
	void reportsTheStateOfTheOutbox() {
		deadLetter("order.created");
		JsonNode answer = afterAScan("/actuator/outbox");
		assertThat(answer.at("/dead/events").asInt()).isEqualTo(1);
		assertThat(answer.at("/dead/exact").asBoolean()).isTrue();
		assertThat(answer.at("/delayed/events").asInt()).isZero();
		assertThat(answer.at("/backlog/events").asInt(-1)).isZero();
		assertThat(answer.at("/backlog/complete").asBoolean()).isTrue();
		assertThat(answer.at("/backlog/oldestAge").asString()).isEqualTo("PT0S");
		assertThat(Duration.parse(answer.at("/backlog/age").asString())).isLessThan(Duration.ofMinutes(1));
		assertThat(answer.at("/relay/running").asBoolean()).isTrue();
		assertThat(answer.at("/relay/unavailablePublishers").isArray()).isTrue();
	}

	@Test
	void listsDeadEventsWithoutWhatTheyCarry() {
		deadLetter("order.created", "order.paid", "order.created");
		JsonNode page = json(get("/actuator/outbox/dead?type=order.created&limit=1"), 200);
		assertThat(page.get("dead")).hasSize(1);
		JsonNode event = page.at("/dead/0");
		assertThat(event.propertyNames()).containsExactlyInAnyOrder("id", "row", "type", "topic", "ordered", "attempts",
				"deadFor", "lastError", "payloadBytes");
		assertThat(event.get("lastError").asString()).isEqualTo("The broker knows no such topic");
		assertThat(page.get("next").asLong()).isEqualTo(event.get("row").asLong());
		String rest = text(get("/actuator/outbox/dead?type=order.created&after=" + page.get("next").asLong()));
		assertThat(JsonMapper.shared().readTree(rest).get("dead")).hasSize(1);
		assertThat(JsonMapper.shared().readTree(rest).path("next").isNull()).isTrue();
		assertThat(rest).doesNotContain("secret");
	}

	@Test
	void deliversRetriedEventsAtOnce() {
		deadLetter("order.created", "order.paid");
		publisher().answer((event) -> new Outcome.Delivered());
		assertThat(json(post("retry", "{\"type\":\"order.paid\"}"), 200).get("retried").asInt()).isEqualTo(1);
		await().untilAsserted(() -> assertThat(publisher().types()).containsExactly("order.paid"));
		assertThat(json(post("retry", "{\"all\":true}"), 200).get("retried").asInt()).isEqualTo(1);
		await().untilAsserted(() -> assertThat(publisher().types()).containsExactly("order.paid", "order.created"));
	}

	@Test
	void discardsEvents() {
		deadLetter("order.created", "order.paid");
		String id = json(get("/actuator/outbox/dead?type=order.paid"), 200).at("/dead/0/id").asString();
		assertThat(json(post("discard", "{\"id\":\"" + id + "\"}"), 200).get("discarded").asInt()).isEqualTo(1);
		assertThat(json(post("discard", "{\"topic\":\"test:other\"}"), 200).get("discarded").asInt()).isZero();
		assertThat(json(post("discard", "{\"topic\":\"test:orders\"}"), 200).get("discarded").asInt()).isEqualTo(1);
		assertThat(publisher().types()).isEmpty();
	}

	@Test
	void discardsNoEventThatDiedAfterTheLookOfTheOperator() {
		deadLetter("order.created", "order.paid");
		long newest = json(get("/actuator/outbox/dead?limit=1"), 200).get("newest").asLong();
		deadLetter("order.shipped");
		String seen = "{\"all\":true,\"upTo\":" + newest + "}";
		assertThat(json(post("discard", seen), 200).get("discarded").asInt()).isEqualTo(2);
		assertThat(audits()).singleElement()
			.satisfies((audit) -> assertThat(audit.getData()).containsEntry("upTo", newest));
		assertThat(json(get("/actuator/outbox/dead"), 200).at("/dead/0/type").asString()).isEqualTo("order.shipped");
		assertThat(json(post("discard", "{\"upTo\":" + newest + "}"), 400).get("problem").asString())
			.isEqualTo("The request does not specify which events");
		assertThat(json(post("discard-blocked", seen), 400).get("problem").asString())
			.isEqualTo("Only dead events can be changed up to a row");
	}

	@Test
	void refusesInvalidRequests() {
		deadLetter("order.created");
		assertThat(json(post("retry", "{}"), 400).get("problem").asString())
			.isEqualTo("The request does not specify which events");
		assertThat(json(post("discard", "{\"all\":false}"), 400).get("action").asString()).contains("all=true");
		assertThat(json(post("discard", "{\"all\":true,\"type\":\"order.created\"}"), 400).get("problem").asString())
			.isEqualTo("The request specifies both all events and some of them");
		assertThat(json(post("discard", "{\"type\":\"\"}"), 400).get("problem").asString())
			.isEqualTo("The parameter 'type' is empty");
		assertThat(json(post("discard", "{\"type\":\"a\\u0000b\"}"), 400).get("problem").asString())
			.isEqualTo("The parameter 'type' contains the character NUL");
		assertThat(json(get("/actuator/outbox/pending?topic=%00"), 400).get("problem").asString()).contains("'topic'");
		assertThat(json(post("resume", "{\"topic\":\"\\u0000\"}"), 400).get("problem").asString()).contains("'topic'");
		assertThat(json(post("retry", "{\"id\":\"1\"}"), 400).get("problem").asString()).contains("UUID");
		assertThat(json(post("explode", "{\"all\":true}"), 400).get("action").asString()).contains("outbox/retry");
		assertThat(json(get("/actuator/outbox/living"), 400).get("action").asString()).contains("outbox/dead");
		assertThat(json(get("/actuator/outbox/dead?limit=501"), 400).get("action").asString())
			.isEqualTo("Specify a number of at least 1 and at most 500");
		assertThat(json(get("/actuator/outbox/dead?after=x"), 400).get("problem").asString()).contains("'after'");
		assertThat(json(get("/actuator/outbox/dead"), 200).get("dead")).hasSize(1);
	}

	@Test
	void isPartOfTheApplicationsHealthAndMeters() {
		JsonNode outbox = afterAScan("/actuator/health").at("/components/outbox");
		assertThat(outbox.get("status").asString()).isEqualTo("UP");
		assertThat(outbox.at("/details/oldestPendingAge").asString()).startsWith("PT");
		MeterRegistry registry = this.application.bean(MeterRegistry.class);
		assertThat(registry.get("outbox.events.pending").gauge().value()).isZero();
		deadLetter("order.created");
		await().untilAsserted(
				() -> assertThat(registry.get("outbox.dead").tag("publisher", "test").counter().count()).isPositive());
	}

	private void deadLetter(String... types) {
		int before = dead();
		new TransactionTemplate(this.application.bean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> {
				for (String type : types) {
					this.application.bean(Outbox.class).append(OutboxEvent.of(type, "secret"));
				}
			});
		await().until(() -> dead() == before + types.length);
		assertThat(this.application.bean(OutboxRelay.class).isRunning()).isTrue();
	}

	private int dead() {
		return this.application.bean(JdbcTemplate.class)
			.queryForList("select id from endpoint_dead", Long.class)
			.size();
	}

	/**
	 * Reads a resource after the relay has read the table again.
	 */
	JsonNode afterAScan(String path) {
		awaitScan(this.application.bean(OutboxRelay.class));
		return json(get(path), 200);
	}

	/**
	 * Waits for the end of a scan that begins now. The one that ends first may have begun
	 * before.
	 */
	static void awaitScan(OutboxRelay relay) {
		for (int i = 0; i < 2; i++) {
			long start = System.nanoTime();
			relay.wake();
			await().until(() -> relay.lastPass()
				.filter((pass) -> pass.age().toNanos() < System.nanoTime() - start)
				.isPresent());
		}
	}

	<T> T bean(Class<T> type) {
		return this.application.bean(type);
	}

	/**
	 * Returns the audit events since the beginning of the test, and forgets them.
	 */
	List<AuditEvent> audits() {
		return bean(Audits.class).taken();
	}

	RecordingPublisher publisher() {
		return this.application.bean(RecordingPublisher.class);
	}

	HttpResponse<byte[]> get(String path) {
		return this.application.send(this.application.request(path).GET().build());
	}

	HttpResponse<byte[]> post(String operation, String json) {
		return this.application.post("/actuator/outbox/" + operation, json);
	}

	static JsonNode json(HttpResponse<byte[]> response, int status) {
		assertThat(response.statusCode()).as(text(response)).isEqualTo(status);
		return JsonMapper.shared().readTree(response.body());
	}

	static String text(HttpResponse<byte[]> response) {
		return WebApplication.text(response);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		RecordingPublisher publisher() {
			return new RecordingPublisher();
		}

		@Bean
		Audits audits() {
			return new Audits();
		}

	}

	static class Audits {

		private final List<AuditEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void on(AuditApplicationEvent event) {
			if (event.getAuditEvent().getType().startsWith("OUTBOX_")) {
				this.events.add(event.getAuditEvent());
			}
		}

		/**
		 * Returns the events, and forgets them.
		 */
		List<AuditEvent> taken() {
			List<AuditEvent> taken = List.copyOf(this.events);
			this.events.clear();
			return taken;
		}

	}

}
