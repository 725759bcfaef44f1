package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.TestedDatabase;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.WebApplication;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
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
 * The outbox endpoint over HTTP, in an application whose relay runs.
 */
@ExtendWith(OutputCaptureExtension.class)
@ParameterizedClass(name = "{0}")
@EnumSource(TestedDatabase.class)
class OutboxEndpointIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final String KEY = Base64.getEncoder().encodeToString(new byte[32]);

	private static final String TOPIC = "{\"topic\":\"test:orders\"}";

	private static final String[] ENTRY = { "id", "row", "type", "topic", "ordered", "attempts", "age", "availableIn",
			"leased", "lastError", "payloadBytes" };

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@Parameter
	@SuppressWarnings("NullAway.Init")
	TestedDatabase database;

	@BeforeParameterizedClassInvocation
	static void start(TestedDatabase database) {
		List<String> properties = new ArrayList<>(List.of(WebApplication.WITH_DATABASE, "idempotent.enabled=false",
				"idempotent.outbox.default-topic=test:orders", "idempotent.outbox.initialize-schema=always",
				"idempotent.outbox.table-prefix=endpoint_", "idempotent.outbox.relay.scan-interval=5m",
				"idempotent.outbox.on-dead=block", "management.endpoints.web.exposure.include=health,outbox",
				"management.endpoint.outbox.show-payloads=always", "idempotent.encryption.keys.k1=" + KEY,
				"idempotent.encryption.active-key=k1", "idempotent.encryption.read-plaintext=true",
				"management.endpoint.health.show-details=always", "management.health.redis.enabled=false"));
		properties.addAll(database.properties(postgres, "endpoint"));
		application = WebApplication.start(Application.class, List::of, properties.toArray(String[]::new));
	}

	@BeforeEach
	void forget() {
		for (String table : List.of("event", "delayed", "dead")) {
			application.bean(JdbcTemplate.class).update("delete from endpoint_" + table);
		}
		audits();
		publisher().published().clear();
		publisher().answer((event) -> new Outcome.Reject("The broker knows no such topic"));
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
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
		MeterRegistry registry = application.bean(MeterRegistry.class);
		assertThat(registry.get("outbox.events.pending").gauge().value()).isZero();
		deadLetter("order.created");
		await().untilAsserted(
				() -> assertThat(registry.get("outbox.dead").tag("publisher", "test").counter().count()).isPositive());
	}

	@Test
	void pausesAndResumesATopic() {
		publisher().answer((event) -> new Outcome.Delivered());
		assertThat(json(post("pause", TOPIC), 200).get("paused").asInt()).isOne();
		assertThat(json(post("pause", TOPIC), 200).get("paused").asInt()).isZero();
		append(OutboxEvent.of("order.created", "secret"));
		JsonNode pending = json(get("/actuator/outbox/pending"), 200);
		assertThat(pending.get("pending")).hasSize(1);
		assertThat(pending.at("/pending/0").propertyNames()).containsExactlyInAnyOrder(ENTRY);
		assertThat(pending.at("/pending/0/leased").asBoolean()).isFalse();
		assertThat(pending.get("next").isNull()).isTrue();
		JsonNode circuit = json(get("/actuator/outbox/circuits"), 200).at("/circuits/0");
		assertThat(circuit.get("topic").asString()).isEqualTo("test:orders");
		assertThat(circuit.get("publisher").asString()).isEqualTo("test");
		assertThat(circuit.get("state").asString()).isEqualTo("paused");
		assertThat(json(get("/actuator/outbox"), 200).at("/relay/pausedTopics/0").asString()).isEqualTo("test:orders");
		bean(JdbcTemplate.class).update("update endpoint_event set created_at = timestamp '2020-01-01 00:00:00'");
		JsonNode health = afterAScan("/actuator/health").at("/components/outbox");
		assertThat(health.get("status").asString()).isEqualTo("UP");
		assertThat(health.at("/details/pausedTopics/0").asString()).isEqualTo("test:orders");
		assertThat(publisher().types()).isEmpty();
		assertThat(json(post("resume", TOPIC), 200).get("resumed").asInt()).isOne();
		assertThat(json(post("resume", TOPIC), 200).get("resumed").asInt()).isZero();
		await().untilAsserted(() -> assertThat(publisher().types()).containsExactly("order.created"));
		assertThat(json(get("/actuator/outbox/circuits"), 200).get("circuits")).isEmpty();
	}

	@Test
	void listsAndResumesARowThatIsNotATopic() {
		bean(JdbcTemplate.class).update("insert into endpoint_control (topic) values ('orders')");
		assertThat(json(get("/actuator/outbox/circuits"), 200).at("/circuits/0/topic").asString()).isEqualTo("orders");
		assertThat(json(post("resume", "{\"topic\":\"orders\"}"), 200).get("resumed").asInt()).isOne();
	}

	@Test
	void listsUnavailableDestinations() {
		publisher().answer((event) -> new Outcome.Unavailable("away", Scope.DESTINATION));
		append(OutboxEvent.of("order.created", 1).toTopic("test:away"));
		await().untilAsserted(() -> {
			JsonNode circuits = json(get("/actuator/outbox/circuits"), 200).get("circuits");
			assertThat(circuits).hasSize(1);
			assertThat(circuits.at("/0/topic").asString()).isEqualTo("test:away");
			assertThat(circuits.at("/0/state").asString()).isEqualTo("unavailable");
			assertThat(circuits.at("/0/nextProbe").asString()).startsWith("PT");
		});
		publisher().answer((event) -> new Outcome.Delivered());
		await().untilAsserted(() -> assertThat(json(get("/actuator/outbox/circuits"), 200).get("circuits")).isEmpty());
	}

	@Test
	void listsDelayedEvents() {
		append(OutboxEvent.of("reminder", "secret").availableAt(Instant.now().plus(Duration.ofHours(1))));
		JsonNode delayed = json(get("/actuator/outbox/delayed?type=reminder"), 200);
		assertThat(delayed.at("/delayed/0/type").asString()).isEqualTo("reminder");
		assertThat(Duration.parse(delayed.at("/delayed/0/availableIn").asString())).isPositive();
		assertThat(json(get("/actuator/outbox/delayed?type=other"), 200).get("delayed")).isEmpty();
		assertThat(json(get("/actuator/outbox"), 200).at("/delayed/events").asInt()).isOne();
	}

	@Test
	void listsAndRetriesBlockedEvents() {
		block("1", "2", "3");
		assertThat(text(get("/actuator/outbox/pending")) + text(get("/actuator/outbox/blocked")))
			.doesNotContain("secret");
		JsonNode blocked = json(get("/actuator/outbox/blocked"), 200);
		assertThat(blocked.get("blocked")).hasSize(1);
		assertThat(blocked.at("/blocked/0").propertyNames()).containsExactlyInAnyOrder(ENTRY);
		assertThat(blocked.at("/blocked/0/lastError").asString()).isEqualTo("bad");
		assertThat(blocked.at("/blocked/0/availableIn").isNull()).isTrue();
		List<String> types = new ArrayList<>();
		String after = "";
		while (after != null) {
			JsonNode page = json(get("/actuator/outbox/pending?limit=1" + after), 200);
			page.get("pending").forEach((event) -> types.add(event.get("type").asString()));
			after = page.path("next").isNull() ? null : "&after=" + page.get("next").asString();
		}
		assertThat(types).containsExactly("1", "2", "3");
		assertThat(afterAScan("/actuator/outbox").at("/backlog/blocked").asInt()).isOne();
		publisher().answer((event) -> new Outcome.Delivered());
		assertThat(json(post("retry-blocked", "{\"topic\":\"test:orders\"}"), 200).get("retried").asInt()).isOne();
		await().untilAsserted(() -> assertThat(publisher().types()).containsExactly("1", "2", "3"));
	}

	@Test
	void listsTheQueueBehindABlockedEvent() {
		block("1", "2", "3");
		append(OutboxEvent.of("other", "secret").withKey("other secret key"));
		String head = json(get("/actuator/outbox/blocked?type=1"), 200).at("/blocked/0/id").asString();
		JsonNode last = json(get("/actuator/outbox/pending?type=3"), 200).at("/pending/0");
		assertThat(last.get("ordered").asBoolean()).isTrue();
		String path = "/actuator/outbox/queue?id=" + last.get("id").asString();
		String text = text(get(path + "&limit=2"));
		assertThat(text).doesNotContain("secret");
		JsonNode page = JsonMapper.shared().readTree(text);
		assertThat(page.propertyNames()).containsExactlyInAnyOrder("head", "queue", "next");
		assertThat(page.at("/queue/0").propertyNames()).containsExactlyInAnyOrder(ENTRY);
		assertThat(page.get("queue")).extracting((event) -> event.get("type").asString()).containsExactly("1", "2");
		JsonNode rest = json(get(path + "&after=" + page.get("next").asString()), 200);
		assertThat(rest.get("queue")).extracting((event) -> event.get("type").asString()).containsExactly("3");
		assertThat(rest.get("next").isNull()).isTrue();
		assertThat(List.of(page, rest)).allMatch((each) -> each.get("head").asString().equals(head));
	}

	@Test
	void listsEventsThatWaitForAnotherAttempt() {
		publisher().answer((event) -> new Outcome.Retry("not yet", Duration.ofHours(1)));
		append(OutboxEvent.of("order.created", "secret"));
		await().untilAsserted(() -> assertThat(json(get("/actuator/outbox/waiting"), 200).get("waiting")).hasSize(1));
		JsonNode waiting = json(get("/actuator/outbox/waiting?type=order.created"), 200).at("/waiting/0");
		assertThat(waiting.get("lastError").asString()).isEqualTo("not yet");
		assertThat(Duration.parse(waiting.get("availableIn").asString())).isPositive();
		assertThat(json(get("/actuator/outbox/waiting?type=other"), 200).get("waiting")).isEmpty();
	}

	/**
	 * Another version of the application may have the handler.
	 */
	@Test
	void answersForEventsOfAHandlerThatIsMissing() {
		String topic = "handlers:send-mail";
		UUID id = insertBlocked("{}", "text/plain", new byte[] { 1 });
		assertThat(json(get("/actuator/outbox/pending?topic=" + topic), 200).at("/pending/0/topic").asString())
			.isEqualTo(topic);
		assertThat(json(get("/actuator/outbox/queue?id=" + id), 200).get("head").asString()).isEqualTo(id.toString());
		json(post("pause", "{\"topic\":\"" + topic + "\"}"), 200);
		json(post("resume", "{\"topic\":\"" + topic + "\"}"), 200);
		assertThat(json(post("discard-blocked", "{\"topic\":\"" + topic + "\"}"), 200).get("discarded").asInt())
			.isOne();
	}

	@Test
	void refusesARequestForAQueueThatDoesNotExist() {
		append(OutboxEvent.of("reminder", "secret").availableAt(Instant.now().plus(Duration.ofHours(1))));
		String later = json(get("/actuator/outbox/delayed"), 200).at("/delayed/0/id").asString();
		for (String id : List.of(later, UUID.randomUUID().toString())) {
			JsonNode answer = json(get("/actuator/outbox/queue?id=" + id), 404);
			assertThat(answer.get("problem").asString()).isEqualTo("No event with this id waits in a queue");
			assertThat(answer.get("action").asString()).contains("outbox/dead or delayed");
		}
		for (String query : List.of("", "?type=a", "?id=" + later + "&topic=b")) {
			assertThat(json(get("/actuator/outbox/queue" + query), 400).get("problem").asString())
				.isEqualTo("The request does not specify just an event");
		}
		for (String after : List.of("x", "1-x", "queue-", "queue-1", "queue-x-1")) {
			assertThat(
					json(get("/actuator/outbox/queue?id=" + later + "&after=" + after), 400).get("problem").asString())
				.contains("'after'");
		}
	}

	@Test
	void showsTheDecryptedPayloadOfAnEventInEachState() {
		block("1");
		append(OutboxEvent.of("reminder", "later").availableAt(Instant.now().plus(Duration.ofHours(1))));
		assertPayload("blocked", "secret");
		assertPayload("pending", "secret");
		assertPayload("delayed", "later");
		json(post("skip-blocked", "{\"all\":true}"), 200);
		audits();
		assertPayload("dead", "secret");
	}

	@Test
	void showsTheBeginningOfALargeOrBinaryPayload() {
		JsonNode text = payload("text/plain", ("1" + "\u00fc".repeat(40_000)).getBytes(StandardCharsets.UTF_8));
		assertThat(text.get("text").asString()).isEqualTo("1" + "\u00fc".repeat(32_767));
		assertThat(text.get("truncated").asBoolean()).isTrue();
		JsonNode largest = payload("text/plain", "x\n".repeat(32_768).getBytes(StandardCharsets.UTF_8));
		assertThat(largest.get("text").asString()).hasSize(65_536);
		assertThat(largest.get("truncated").asBoolean()).isFalse();
		for (byte[] bytes : List.of(new byte[] { 1, 2, 3 }, new byte[] { (byte) 0xc3 }, new byte[] { (byte) 0xff })) {
			JsonNode binary = payload("application/octet-stream", bytes);
			assertThat(binary.has("text")).isFalse();
			assertThat(binary.get("contentType").asString()).isEqualTo("application/octet-stream");
			assertThat(Base64.getDecoder().decode(binary.get("base64").asString())).isEqualTo(bytes);
		}
	}

	@Test
	void tellsWhyAPayloadCannotBeShown() {
		UUID encrypted = insertBlocked("{\"ce_encrypted\":\"1\"}", "text/plain", new byte[60]);
		JsonNode answer = json(get("/actuator/outbox/payload?state=pending&id=" + encrypted), 409);
		assertThat(answer.get("problem").asString()).startsWith("The payload cannot be decrypted: ");
		assertThat(json(get("/actuator/outbox/payload?state=dead&id=" + encrypted), 404).get("action").asString())
			.contains("'after'");
		assertThat(json(get("/actuator/outbox/payload?id=" + encrypted), 400).get("problem").asString())
			.contains("'state'");
		assertThat(json(get("/actuator/outbox/payload?state=dead"), 400).get("problem").asString())
			.isEqualTo("The request does not specify just an event");
		assertThat(audits()).isEmpty();
	}

	@Test
	void skipsAndDiscardsBlockedEvents() {
		block("1", "2", "3");
		assertThat(json(post("discard-blocked", "{\"all\":true}"), 200).get("discarded").asInt()).isOne();
		await()
			.untilAsserted(() -> assertThat(json(get("/actuator/outbox/blocked"), 200).at("/blocked/0/type").asString())
				.isEqualTo("2"));
		publisher().answer((event) -> new Outcome.Delivered());
		assertThat(json(post("skip-blocked", "{\"type\":\"2\"}"), 200).get("skipped").asInt()).isOne();
		await().untilAsserted(() -> assertThat(publisher().types()).containsExactly("3"));
		assertThat(json(get("/actuator/outbox/dead"), 200).at("/dead/0/type").asString()).isEqualTo("2");
	}

	@Test
	void skipsTheEventsOfATopicThatNobodyServes() {
		JdbcTemplate template = bean(JdbcTemplate.class);
		template.update(
				"insert into endpoint_event (event_id, topic, type, payload) values (?, 'gone:orders', 'late', ?)",
				UUID.randomUUID(), new byte[0]);
		assertThat(afterAScan("/actuator/outbox").at("/backlog/unserved/0/topic").asString()).isEqualTo("gone:orders");
		assertThat(json(post("skip-unserved", "{\"topic\":\"test:orders\"}"), 409).get("problem").asString())
			.isEqualTo("This instance serves the topic");
		assertThat(json(post("skip-unserved", "{\"all\":true}"), 400).get("problem").asString()).contains("topic");
		List<Object> before = List.copyOf(audits());
		assertThat(json(post("skip-unserved", "{\"topic\":\"gone:orders\"}"), 200).get("skipped").asInt()).isOne();
		assertThat(before).isEmpty();
		assertAudit("OUTBOX_UNSERVED_SKIPPED", Map.of("topic", "gone:orders", "number", 1, "outcome", "DONE"));
		assertThat(json(get("/actuator/outbox/dead"), 200).at("/dead/0/lastError").asString())
			.isEqualTo("No instance served its topic");
		assertThat(json(post("retry", "{\"topic\":\"gone:orders\"}"), 200).get("retried").asInt()).isOne();
	}

	@Test
	void publishesAnAuditEventOfEachChange() {
		block("1", "2", "3");
		post("retry-blocked", "{\"type\":\"1\",\"note\":\"the broker is back\"}");
		assertAudit("OUTBOX_BLOCKED_RETRIED",
				Map.of("type", "1", "note", "the broker is back", "number", 1, "outcome", "DONE"));
		await().untilAsserted(() -> assertThat(json(get("/actuator/outbox/blocked"), 200).get("blocked")).hasSize(1));
		post("skip-blocked", "{\"topic\":\"test:orders\",\"note\":\" \"}");
		assertAudit("OUTBOX_BLOCKED_SKIPPED", Map.of("topic", "test:orders", "number", 1, "outcome", "DONE"));
		String dead = json(get("/actuator/outbox/dead"), 200).at("/dead/0/id").asString();
		post("retry", "{\"type\":\"other\"}");
		assertAudit("OUTBOX_EVENTS_RETRIED", Map.of("type", "other", "number", 0, "outcome", "DONE"));
		post("discard", "{\"id\":\"" + dead + "\"}");
		assertAudit("OUTBOX_EVENTS_DISCARDED", Map.of("id", dead, "number", 1, "outcome", "DONE"));
		await().untilAsserted(() -> assertThat(json(get("/actuator/outbox/blocked"), 200).get("blocked")).hasSize(1));
		post("discard-blocked", "{\"all\":true}");
		assertAudit("OUTBOX_BLOCKED_DISCARDED", Map.of("all", true, "number", 1, "outcome", "DONE"));
		post("pause", "{\"topic\":\"test:other\",\"note\":\"maintenance\"}");
		assertAudit("OUTBOX_TOPIC_PAUSED",
				Map.of("topic", "test:other", "note", "maintenance", "number", 1, "outcome", "DONE"));
		post("resume", "{\"topic\":\"test:other\"}");
		assertAudit("OUTBOX_TOPIC_RESUMED", Map.of("topic", "test:other", "number", 1, "outcome", "DONE"));
	}

	@Test
	void keepsNotesOutOfTheLog(CapturedOutput output) {
		block("1");
		post("discard-blocked", "{\"all\":true,\"note\":\"a secret note\"}");
		post("pause", "{\"topic\":\"test:other\",\"note\":\"a secret note\"}");
		post("resume", "{\"topic\":\"test:other\",\"note\":\"a secret note\"}");
		assertThat(output).contains("An operator has discarded 1 blocked events",
				"An operator has resumed the topic test:other");
		assertThat(output).doesNotContain("a secret note");
	}

	/**
	 * Some of the events may have been changed before the failure.
	 */
	@Test
	void publishesAnAuditEventOfAChangeThatFails() {
		JdbcTemplate template = bean(JdbcTemplate.class);
		template.execute("alter table endpoint_dead rename to endpoint_lost");
		try {
			json(post("discard", "{\"all\":true,\"note\":\"tidy up\"}"), 503);
		}
		finally {
			template.execute("alter table endpoint_lost rename to endpoint_dead");
		}
		assertAudit("OUTBOX_EVENTS_DISCARDED", Map.of("all", true, "note", "tidy up", "outcome", "UNKNOWN"));
	}

	@Test
	void refusesALongNote() {
		String longest = "x".repeat(1000);
		assertThat(json(post("resume", "{\"topic\":\"test:other\",\"note\":\"" + longest + "y\"}"), 400).get("problem")
			.asString()).isEqualTo("The 'note' is too long");
		json(post("explode", "{\"all\":true}"), 400);
		json(post("retry", "{}"), 400);
		json(post("pause", "{\"topic\":\"tset:orders\"}"), 400);
		assertThat(audits()).isEmpty();
		json(post("resume", "{\"topic\":\"test:other\",\"note\":\"" + longest + "\"}"), 200);
		assertThat(audits()).hasSize(1);
	}

	@Test
	void refusesInvalidOperations() {
		for (String body : List.of("{}", "{\"all\":true}", "{\"topic\":\"test:a\",\"type\":\"b\"}")) {
			assertThat(json(post("pause", body), 400).get("problem").asString())
				.isEqualTo("The request does not specify just a topic");
		}
		assertThat(json(post("pause", "{\"topic\":\"tset:orders\"}"), 400).get("action").asString())
			.contains("with one of: ")
			.endsWith("test");
		assertThat(json(post("pause", "{\"topic\":\"test:\"}"), 400).get("action").asString())
			.startsWith("A topic consists of");
		assertThat(json(post("retry-blocked", "{}"), 400).get("problem").asString())
			.isEqualTo("The request does not specify which events");
		assertThat(json(post("skip-blocked", "{\"id\":\"x\"}"), 400).get("action").asString())
			.isEqualTo("Specify the id of an event as the lists of the endpoint show it");
		for (String after : List.of("x", "1", "1-x", "-1-1", "1-1-1", "99999999999999999999-1")) {
			assertThat(json(get("/actuator/outbox/pending?after=" + after), 400).get("problem").asString())
				.contains("'after'");
		}
		assertThat(json(get("/actuator/outbox/pending?limit=501"), 400).get("problem").asString()).contains("'limit'");
		assertThat(json(get("/actuator/outbox/circuits"), 200).get("circuits")).isEmpty();
	}

	private void deadLetter(String... types) {
		int before = dead();
		new TransactionTemplate(application.bean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
			for (String type : types) {
				application.bean(Outbox.class).append(OutboxEvent.of(type, "secret"));
			}
		});
		await().until(() -> dead() == before + types.length);
		assertThat(application.bean(OutboxRelay.class).isRunning()).isTrue();
	}

	private int dead() {
		return application.bean(JdbcTemplate.class).queryForList("select id from endpoint_dead", Long.class).size();
	}

	/**
	 * Reads a resource after the relay has read the table again.
	 */
	JsonNode afterAScan(String path) {
		awaitScan(application.bean(OutboxRelay.class));
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
		return application.bean(type);
	}

	/**
	 * Returns the audit events since the beginning of the test, and forgets them.
	 */
	List<AuditEvent> audits() {
		return bean(Audits.class).taken();
	}

	RecordingPublisher publisher() {
		return application.bean(RecordingPublisher.class);
	}

	HttpResponse<byte[]> get(String path) {
		return application.send(application.request(path).GET().build());
	}

	HttpResponse<byte[]> post(String operation, String json) {
		return application.post("/actuator/outbox/" + operation, json);
	}

	static JsonNode json(HttpResponse<byte[]> response, int status) {
		assertThat(response.statusCode()).as(text(response)).isEqualTo(status);
		return JsonMapper.shared().readTree(response.body());
	}

	static String text(HttpResponse<byte[]> response) {
		return WebApplication.text(response);
	}

	private void assertPayload(String state, String payload) {
		JsonNode entry = json(get("/actuator/outbox/" + state), 200).at("/" + state + "/0");
		String id = entry.get("id").asString();
		JsonNode answer = json(get("/actuator/outbox/payload?state=" + state + "&id=" + id), 200);
		assertThat(answer.propertyNames()).containsExactlyInAnyOrder("id", "row", "contentType", "text", "truncated");
		assertThat(answer.get("text").asString()).isEqualTo('"' + payload + '"');
		assertThat(answer.get("contentType").asString()).isEqualTo("application/json");
		assertThat(answer.get("truncated").asBoolean()).isFalse();
		assertAudit("OUTBOX_PAYLOAD_READ",
				Map.of("id", id, "state", state, "row", entry.get("row").asLong(), "outcome", "DONE"));
	}

	private JsonNode payload(String contentType, byte[] payload) {
		UUID id = insertBlocked("{}", contentType, payload);
		return json(get("/actuator/outbox/payload?state=blocked&id=" + id), 200);
	}

	/**
	 * Inserts the row of another program.
	 */
	private UUID insertBlocked(String headers, String contentType, byte[] payload) {
		UUID id = UUID.randomUUID();
		bean(JdbcTemplate.class).update(
				"insert into endpoint_event (event_id, topic, type, headers, content_type, payload, due_at) values "
						+ "(?, 'handlers:send-mail', 'mail', ?, ?, ?, timestamp '9999-12-31 00:00:00+00')",
				id, headers, contentType, payload);
		return id;
	}

	private void assertAudit(String type, Map<String, Object> data) {
		assertThat(audits()).singleElement().satisfies((event) -> {
			assertThat(event.getType()).isEqualTo(type);
			assertThat(event.getPrincipal()).isEmpty();
			assertThat(event.getData()).isEqualTo(data);
		});
	}

	private void block(String... types) {
		publisher().answer((event) -> new Outcome.Reject("bad"));
		for (String type : types) {
			append(OutboxEvent.of(type, "secret").withKey("secret key"));
		}
		await().untilAsserted(() -> assertThat(json(get("/actuator/outbox/blocked"), 200).get("blocked")).hasSize(1));
	}

	private void append(OutboxEvent event) {
		new TransactionTemplate(bean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> bean(Outbox.class).append(event));
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
