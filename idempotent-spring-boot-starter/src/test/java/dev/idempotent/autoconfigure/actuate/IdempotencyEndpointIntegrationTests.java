package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.autoconfigure.actuate.KeyApplication.Audits;
import dev.idempotent.autoconfigure.actuate.KeyApplication.Payments;
import dev.idempotent.autoconfigure.actuate.KeyApplication.Vouchers;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.Patience;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.core.StringRedisTemplate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the idempotency endpoint over HTTP, with Redis in front of PostgreSQL.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyEndpointIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(IdempotencyEndpointIntegrationTests::start)
		.resetting(Payments.class, Payments::reset);

	private final String key = UUID.randomUUID().toString();

	private static WebApplication start() {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
				"idempotent.jdbc.table=operated_record",
				"management.endpoints.web.exposure.include=health,idempotency,auditevents"));
		return WebApplication.start(KeyApplication.class, redis, properties.toArray(String[]::new));
	}

	@BeforeEach
	void clear() {
		application.bean(Audits.class).events().clear();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/payments", "/transfers" })
	void showsARunningKeyWithoutRevealingIt(String path) throws Exception {
		Gate gate = payments().holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> run = application.postAsync(path, "", "Idempotency-Key", this.key);
		gate.awaitEntry();
		HttpResponse<byte[]> response = find("{\"key\":\"" + this.key + "\"}");
		JsonNode found = json(response, 200);
		assertThat(found.at("/key/state").asString()).isEqualTo("PENDING");
		assertThat(found.get("place").asString()).isEqualTo("store");
		assertThat(Duration.parse(found.at("/key/remaining").asString())).isPositive();
		assertOrigin(found.get("key"), path);
		assertThat(text(response)).doesNotContain(this.key);
		JsonNode overview = overview();
		assertThat(overview.get("running").asInt()).isPositive();
		assertThat(Duration.parse(overview.get("oldestUnsettledAge").asString())).isPositive();
		assertThat(json(get(found.get("digest").asString()), 200).at("/key/state").asString()).isEqualTo("PENDING");
		gate.open();
		assertThat(run.get().statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "/payments,store", "/transfers,database" })
	void showsACompletedKeyWithoutItsResponse(String path, String place) {
		application.post(path, "", "Idempotency-Key", this.key);
		HttpResponse<byte[]> response = get(digest());
		JsonNode found = json(response, 200);
		assertThat(found.at("/key/state").asString()).isEqualTo("COMPLETED");
		assertThat(found.get("place").asString()).isEqualTo(place);
		assertThat(Duration.parse(found.at("/key/remaining").asString())).isGreaterThan(Duration.ofHours(23));
		assertOrigin(found.get("key"), path);
		assertThat(found.get("meaning").asString()).isEqualTo("The work is done: retries get the stored response");
		assertThat(text(response)).doesNotContain("payment 1", "transfer 1");
	}

	@Test
	void showsTheFallingLeaseOfAnOwnerThatDied() {
		IdempotencyKey stuck = new IdempotencyKey(digest(this.key));
		RunOrigin died = new RunOrigin(Instant.now(), Guarantee.LEASE,
				"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
		application.bean(IdempotencyStore.class)
			.claim(stuck, Fingerprint.of(List.of()), died.toToken(UUID.randomUUID().toString()), Duration.ofMinutes(1));
		assertThat(json(get(stuck.digest()), 200).at("/key/traceId").asString()).isEqualTo(died.traceId());
		Duration first = remaining();
		assertThat(first).isLessThanOrEqualTo(Duration.ofMinutes(1));
		await().until(() -> remaining().compareTo(first) < 0);
		json(release(stuck.digest()), 200);
		assertThat(text(pay())).isEqualTo("payment 1");
	}

	@Test
	void showsTheRecordOfTheDatabaseIfTheStoreHasLostTheKey() {
		application.post("/transfers", "", "Idempotency-Key", this.key);
		String digest = digest();
		StringRedisTemplate template = new StringRedisTemplate(redis.connect());
		assertThat(template.delete("idempotency:" + digest)).isTrue();
		assertThat(json(get(digest), 200).at("/key/state").asString()).isEqualTo("COMPLETED");
		application.bean(IdempotencyStore.class)
			.claim(new IdempotencyKey(digest), Fingerprint.of(List.of()), "a retry", Duration.ofMinutes(1));
		JsonNode both = json(get(digest), 200);
		assertThat(both.get("place").asString()).isEqualTo("database");
		assertThat(both.at("/key/state").asString()).isEqualTo("COMPLETED");
		assertThat(both.at("/store/state").asString()).isEqualTo("PENDING");
		assertThat(json(forget(digest), 409).get("problem").asString())
			.isEqualTo("A run has claimed the key and could complete it again");
	}

	@Test
	void findsTheKeyOfAMethodWithoutItsQuotes() {
		application.bean(Vouchers.class).welcome(this.key);
		application.bean(Vouchers.class).welcome(4711);
		String request = "{\"kind\":\"METHOD\",\"operation\":\"welcome\",\"key\":\"%s\"}";
		JsonNode found = json(find(request.formatted(this.key)), 200);
		assertThat(found.at("/key/state").asString()).isEqualTo("COMPLETED");
		assertThat(json(find(request.formatted("\\\"" + this.key + "\\\"")), 200).get("digest"))
			.isEqualTo(found.get("digest"));
		json(find(request.formatted("4711")), 200);
		json(find(request.formatted("4712")), 404);
	}

	@Test
	void answers404ForAnUnknownKey() {
		assertThat(json(get(digest(this.key)), 404).get("action").asString()).contains("kind, scope, operation");
		json(release(digest(this.key)), 404);
		json(forget(digest(this.key)), 404);
		HttpResponse<byte[]> unknown = find("{\"key\":\"" + this.key + "\"}");
		assertThat(json(unknown, 404).get("problem").asString()).contains(digest(this.key));
		assertThat(text(unknown)).doesNotContain(this.key);
		assertThat(audits()).isEmpty();
	}

	@Test
	void keepsTheResponseOfTheRetryIfARunningKeyIsReleased() throws Exception {
		Gate gate = payments().holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/payments", "", "Idempotency-Key",
				this.key);
		gate.awaitEntry();
		JsonNode released = json(release(digest()), 200);
		assertThat(released.get("outcome").asString()).isEqualTo("released");
		assertThat(released.at("/before/key/state").asString()).isEqualTo("PENDING");
		assertThat(released.get("consequence").asString()).contains("both run under Guarantee.LEASE");
		assertThat(text(pay())).isEqualTo("payment 2");
		gate.open();
		assertThat(text(first.get())).isEqualTo("payment 1");
		assertThat(text(pay())).isEqualTo("payment 2");
		assertThat(payments().runs()).isEqualTo(2);
	}

	@Test
	void keepsTheResponseOfAReleasedRunThatNoRetryHasOvertaken() throws Exception {
		Gate gate = payments().holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/payments", "", "Idempotency-Key",
				this.key);
		gate.awaitEntry();
		json(release(digest()), 200);
		gate.open();
		assertThat(text(first.get())).isEqualTo("payment 1");
		assertThat(text(pay())).isEqualTo("payment 1");
		assertThat(payments().runs()).isOne();
	}

	@Test
	void letsTheDatabaseRefuseARetryWhileAReleasedTransactionLasts() throws Exception {
		Gate gate = payments().holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/transfers", "", "Idempotency-Key",
				this.key);
		gate.awaitEntry();
		json(release(digest()), 200);
		assertThat(application.post("/transfers", "", "Idempotency-Key", this.key).statusCode()).isEqualTo(409);
		gate.open();
		assertThat(text(first.get())).isEqualTo("transfer 1");
		assertThat(text(application.post("/transfers", "", "Idempotency-Key", this.key))).isEqualTo("transfer 1");
		assertThat(payments().runs()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/payments", "/transfers" })
	void runsTheWorkAgainOnceItsKeyIsForgotten(String path) {
		application.post(path, "", "Idempotency-Key", this.key);
		application.post(path, "", "Idempotency-Key", this.key);
		assertThat(payments().runs()).isOne();
		JsonNode forgotten = json(forget(digest()), 200);
		assertThat(forgotten.get("outcome").asString()).isEqualTo("forgotten");
		assertThat(forgotten.get("consequence").asString()).contains("a retry of a payment pays again");
		application.post(path, "", "Idempotency-Key", this.key);
		assertThat(payments().runs()).isEqualTo(2);
	}

	@Test
	void auditsAndLogsEachChange(CapturedOutput output) {
		pay();
		String digest = digest();
		json(release(digest), 409);
		assertThat(audits()).isEmpty();
		json(forget(digest), 200);
		assertThat(audits()).singleElement().satisfies((event) -> {
			assertThat(event.getType()).isEqualTo("IDEMPOTENCY_KEY_FORGOTTEN");
			assertThat(event.getPrincipal()).isEmpty();
			assertThat(event.getData()).containsEntry("digest", digest)
				.containsEntry("state", "COMPLETED")
				.containsEntry("guarantee", "LEASE")
				.containsKey("since")
				.containsEntry("outcome", "DONE");
		});
		assertThat(output).containsOnlyOnce("An operator has requested to forget the key " + digest)
			.doesNotContain(this.key);
	}

	@Test
	void auditsTheNoteOfAChangeAndDoesNotLogIt(CapturedOutput output) throws Exception {
		Gate gate = payments().holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> run = application.postAsync("/payments", "", "Idempotency-Key",
				this.key);
		gate.awaitEntry();
		String digest = digest();
		assertThat(json(change(digest, "release", "{\"note\":\"Node 7 is gone, ticket 42\"}"), 200).get("outcome")
			.asString()).isEqualTo("released");
		gate.open();
		run.get();
		assertThat(json(change(digest, "forget", "{\"note\":\" \"}"), 200).get("outcome").asString())
			.isEqualTo("forgotten");
		assertThat(audits()).hasSize(2);
		assertThat(audits().get(0).getType()).isEqualTo("IDEMPOTENCY_KEY_RELEASED");
		assertThat(audits().get(0).getData()).containsEntry("note", "Node 7 is gone, ticket 42")
			.containsEntry("outcome", "DONE");
		assertThat(audits().get(1).getType()).isEqualTo("IDEMPOTENCY_KEY_FORGOTTEN");
		assertThat(audits().get(1).getData()).doesNotContainKey("note");
		assertThat(output).doesNotContain("ticket 42");
	}

	@Test
	void explainsAnInvalidChange() {
		pay();
		String digest = digest();
		String endless = "{\"note\":\"" + "x".repeat(1001) + "\"}";
		assertThat(json(change(digest, "forget", endless), 400).get("problem").asString())
			.isEqualTo("The 'note' is too long");
		assertThat(json(change(digest, "explode", "{}"), 400).get("action").asString()).contains("/release", "/forget");
		assertThat(json(change("4711", "forget", "{}"), 400).get("problem").asString()).contains("no digest");
		assertThat(json(change(digest, "release", "{}"), 409).get("problem").asString()).contains("is completed");
		assertThat(json(change(digest, "release", "{\"operation\":\"forget\"}"), 400).get("problem").asString())
			.contains("a part of its path");
		assertThat(json(change(digest, "release?operation=forget", "{}"), 400).get("problem").asString())
			.contains("a part of its path");
		assertThat(json(change("0".repeat(64), "forget", "{\"digest\":\"" + digest + "\"}"), 400).get("problem")
			.asString()).contains("a part of its path");
		assertThat(audits()).isEmpty();
		assertThat(json(get(digest), 200).at("/key/state").asString()).isEqualTo("COMPLETED");
	}

	@Test
	void forgetsAKeyOnceForTwoOperators() throws InterruptedException {
		pay();
		String digest = digest();
		List<Integer> answers = ConcurrentRuns.of(2, (runner) -> change(digest, "forget", "{}").statusCode());
		assertThat(answers).contains(200).allMatch((status) -> List.of(200, 404, 409).contains(status));
		assertThat(audits()).filteredOn((event) -> "DONE".equals(event.getData().get("outcome"))).isNotEmpty();
		assertThat(json(get(digest), 404).get("problem").asString()).contains(digest);
	}

	@Test
	void changesOnlyTheRunThatTheOperatorHasSeen() {
		pay();
		String digest = digest();
		String seen = json(get(digest), 200).at("/key/since").asString();
		json(change(digest, "forget", "{\"since\":\"" + seen + "\"}"), 200);
		pay();
		JsonNode refused = json(change(digest, "forget", "{\"since\":\"" + seen + "\"}"), 409);
		assertThat(refused.get("problem").asString()).contains("Another run");
		assertThat(json(get(digest), 200).at("/key/state").asString()).isEqualTo("COMPLETED");
		assertThat(payments().runs()).isEqualTo(2);
		assertThat(audits()).hasSize(1);
	}

	@Test
	void showsTheInstance() {
		pay();
		application.post("/transfers", "", "Idempotency-Key", UUID.randomUUID().toString());
		JsonNode overview = overview();
		assertThat(overview.get("waiting").asInt()).isZero();
		assertThat(overview.get("store").asString()).isEqualTo("Redis");
		assertThat(overview.at("/counts/0/completed").asInt()).isPositive();
		assertThat(overview.at("/counts/0/exact").asBoolean()).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			{}                                               | no 'key'
			{"key":""}                                       | no 'key'
			{"key":"\\"secret\\""}                           | in quotes
			{"kind":"BODY","key":"secret"}                   | no such 'kind'
			{"kind":"STEP","operation":"a","key":"secret"}   | no such 'kind'
			{"kind":"METHOD","key":"secret"}                 | no 'operation'
			{"key":"secret","operation":"pay"}               | no 'operation'
			{"key":"secret","scope":"a","principal":"b"}     | both
			{"key":"secret","issuer":"a"}                    | without a 'principal'
			{"kind":"method","operation":"a","key":"secret","scope":"a"} | no scope
			{"kind":"token","operation":"a","key":"secret","principal":"a"} | no scope
			{"kind":"token","operation":"a","key":"secret"}  | not a one-time token
			{"kind":"token","key":"secret"}                  | no 'operation'
			""")
	void explainsInvalidRequests(String body, String problem) {
		HttpResponse<byte[]> response = find(body);
		JsonNode answer = json(response, 400);
		assertThat(answer.get("problem").asString()).contains(problem);
		assertThat(answer.get("action").asString()).isNotBlank();
		assertThat(text(response)).doesNotContain("secret");
	}

	@ParameterizedTest
	@ValueSource(strings = { "find", "release", "forget", "ABC", "not-a-digest" })
	void refuseAPathWithoutADigest(String path) {
		for (HttpResponse<byte[]> response : List.of(get(path), release(path), forget(path))) {
			assertThat(json(response, 400).get("problem").asString()).contains("no digest");
		}
	}

	@Test
	void letOnlyThePathAndTheMethodDecideWhatIsDone() {
		pay();
		String digest = digest();
		String body = "{\"key\":\"" + this.key + "\",\"verb\":\"forget\",\"digest\":\"" + digest
				+ "\",\"_method\":\"DELETE\"}";
		String query = "?verb=forget&_method=DELETE&digest=" + digest;
		assertThat(json(find(body), 200).at("/key/state").asString()).isEqualTo("COMPLETED");
		assertThat(json(application.post("/actuator/idempotency" + query, body), 200).get("digest").asString())
			.isEqualTo(digest);
		json(get(digest + query), 200);
		assertThat(application.post("/actuator/idempotency/" + digest + query, body).statusCode()).isEqualTo(405);
		assertThat(json(get(digest), 200).at("/key/state").asString()).isEqualTo("COMPLETED");
		assertThat(audits()).isEmpty();
		assertThat(text(pay())).isEqualTo("payment 1");
	}

	private static void assertOrigin(JsonNode key, String path) {
		assertThat(key.get("guarantee").asString()).isEqualTo(path.equals("/payments") ? "LEASE" : "TRANSACTION");
		assertThat(Duration.between(Instant.parse(key.get("since").asString()), Instant.now())).isBetween(Duration.ZERO,
				Patience.LIMIT);
	}

	private static JsonNode overview() {
		return json(application.send(application.request("/actuator/idempotency").GET().build()), 200);
	}

	private HttpResponse<byte[]> pay() {
		return application.post("/payments", "", "Idempotency-Key", this.key);
	}

	private String digest() {
		return json(find("{\"kind\":\"HEADER\",\"scope\":\"\",\"key\":\"" + this.key + "\"}"), 200).get("digest")
			.asString();
	}

	private static String digest(String key) {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "test", "", "", key).digest();
	}

	private Duration remaining() {
		return Duration.parse(json(get(digest(this.key)), 200).at("/key/remaining").asString());
	}

	private static Payments payments() {
		return application.bean(Payments.class);
	}

	private static List<AuditEvent> audits() {
		return application.bean(Audits.class).events();
	}

	private static HttpResponse<byte[]> get(String digest) {
		return application.send(application.request("/actuator/idempotency/" + digest).GET().build());
	}

	private static HttpResponse<byte[]> find(String json) {
		return application.post("/actuator/idempotency", json);
	}

	private static HttpResponse<byte[]> release(String digest) {
		return change(digest, "release", "{}");
	}

	private static HttpResponse<byte[]> forget(String digest) {
		return change(digest, "forget", "{}");
	}

	private static HttpResponse<byte[]> change(String digest, String operation, String json) {
		return application.post("/actuator/idempotency/" + digest + "/" + operation, json);
	}

	private static JsonNode json(HttpResponse<byte[]> response, int status) {
		assertThat(response.statusCode()).as(text(response)).isEqualTo(status);
		return JsonMapper.shared().readTree(response.body());
	}

}
