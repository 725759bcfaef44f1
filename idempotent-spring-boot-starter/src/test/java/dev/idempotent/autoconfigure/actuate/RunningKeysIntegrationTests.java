package dev.idempotent.autoconfigure.actuate;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.autoconfigure.actuate.KeyApplication.Payments;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.testing.ForkedApplication;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.Patience;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the list of running keys, with two instances on each store.
 */
class RunningKeysIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication redisOwner = RunningApplication.of(() -> start(Store.REDIS));

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication redisOther = RunningApplication.of(() -> start(Store.REDIS));

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication jdbcOwner = RunningApplication.of(() -> start(Store.JDBC));

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication jdbcOther = RunningApplication.of(() -> start(Store.JDBC));

	private static final String TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

	private static final String PAY = "Payments.pay";

	private static final String TRANSFER = "Payments.transfer";

	private final String key = UUID.randomUUID().toString();

	enum Store {

		REDIS, JDBC;

		RunningApplication owner() {
			return (this == REDIS) ? redisOwner : jdbcOwner;
		}

		RunningApplication other() {
			return (this == REDIS) ? redisOther : jdbcOther;
		}

		String place() {
			return (this == REDIS) ? "store" : "database";
		}

	}

	private static WebApplication start(Store store) {
		return WebApplication.start(KeyApplication.class, redis, properties(store));
	}

	private static String[] properties(Store store, String... more) {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
				"idempotent.jdbc.table=running_record", "idempotent.redis.key-prefix=running-keys:",
				"management.endpoints.web.exposure.include=idempotency",
				"idempotent.store=" + ((store == Store.REDIS) ? "redis" : "jdbc")));
		properties.addAll(List.of(more));
		return properties.toArray(String[]::new);
	}

	@BeforeEach
	void reset() {
		for (Store store : Store.values()) {
			store.owner().bean(Payments.class).reset();
			store.other().bean(Payments.class).reset();
		}
	}

	@ParameterizedTest
	@EnumSource
	void showsTheRunOfAnotherInstanceUntilItEnds(Store store) throws Exception {
		Gate gate = store.owner().bean(Payments.class).holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> run = store.owner()
			.postAsync("/payments", "", "Idempotency-Key", this.key);
		gate.awaitEntry();
		JsonNode listed = await().until(() -> running(store.other(), PAY), (found) -> found != null);
		assertThat(listed.get("operation").asString()).endsWith(".KeyApplication$Payments.pay()");
		assertThat(listed.get("instance").asString()).startsWith(ProcessHandle.current().pid() + "@");
		assertThat(listed.get("place").asString()).isEqualTo(store.place());
		assertThat(listed.get("guarantee").asString()).isEqualTo("LEASE");
		assertThat(Duration.parse(listed.get("remaining").asString())).isPositive();
		assertThat(Duration.between(Instant.parse(listed.get("since").asString()), Instant.now()))
			.isBetween(Duration.ZERO, Patience.LIMIT);
		assertThat(text(get(store.other(), "running"))).doesNotContain(this.key);
		JsonNode one = json(get(store.other(), listed.get("digest").asString()));
		assertThat(one.at("/key/operation").asString()).endsWith(".KeyApplication$Payments.pay()");
		assertThat(one.at("/key/instance")).isEqualTo(listed.get("instance"));
		assertThat(one.at("/key/since")).isEqualTo(listed.get("since"));
		gate.open();
		assertThat(run.get().statusCode()).isEqualTo(200);
		await().until(() -> running(store.other(), PAY) == null);
		await().until(() -> running(store.owner(), PAY) == null);
	}

	@ParameterizedTest
	@EnumSource
	void showsTheRunsOfThisInstanceAtOnce(Store store) throws Exception {
		for (String path : List.of("payments", "transfers")) {
			Gate gate = store.owner().bean(Payments.class).holdNextRun();
			CompletableFuture<HttpResponse<byte[]>> run = store.owner()
				.postAsync("/" + path, "", "Idempotency-Key", UUID.randomUUID().toString());
			gate.awaitEntry();
			JsonNode listed = Objects.requireNonNull(running(store.owner(), path.equals("payments") ? PAY : TRANSFER));
			boolean uncommitted = store == Store.JDBC && path.equals("transfers");
			assertThat(listed.get("place").asString()).isEqualTo(uncommitted ? "instance" : store.place());
			assertThat(listed.get("remaining").isNull()).isEqualTo(uncommitted);
			assertThat(listed.get("guarantee").asString()).isEqualTo(path.equals("payments") ? "LEASE" : "TRANSACTION");
			gate.open();
			assertThat(run.get().statusCode()).isEqualTo(200);
		}
	}

	@Test
	void tellsThatTransactionsOfOtherInstancesAreNotInTheDatabase() throws Exception {
		Gate gate = jdbcOwner.bean(Payments.class).holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> run = jdbcOwner.postAsync("/transfers", "", "Idempotency-Key",
				this.key);
		gate.awaitEntry();
		assertThat(running(jdbcOwner, TRANSFER)).isNotNull();
		assertThat(running(jdbcOther, TRANSFER)).isNull();
		assertThat(json(get(jdbcOther, "running")).get("meaning").asString())
			.contains("Under Guarantee.TRANSACTION, only the runs of this instance are known");
		gate.open();
		assertThat(run.get().statusCode()).isEqualTo(200);
	}

	/**
	 * The owner is killed, so that it can neither settle its claim nor take it back.
	 */
	@ParameterizedTest
	@EnumSource
	void showsTheClaimOfADeadOwnerUntilItsLeaseEnds(Store store) throws IOException {
		String instance;
		try (ForkedApplication owner = ForkedApplication.start(HoldingApplication.class, redis, "256m",
				properties(store, "idempotent.lease=6s"))) {
			CompletableFuture<HttpResponse<byte[]>> unanswered = HttpClient.newHttpClient()
				.sendAsync(payment(owner.uri("/payments")), BodyHandlers.ofByteArray());
			JsonNode alive = await().until(() -> running(store.other(), PAY), (found) -> found != null);
			instance = alive.get("instance").asString();
			assertThat(instance).doesNotStartWith(ProcessHandle.current().pid() + "@");
			assertThat(unanswered).isNotDone();
		}
		JsonNode dead = running(store.other(), PAY);
		// A machine that is slow enough has ended the lease by now.
		if (dead != null) {
			assertThat(dead.get("instance").asString()).isEqualTo(instance);
		}
		await().until(() -> running(store.other(), PAY) == null);
		await().until(() -> store.other().post("/payments", "", "Idempotency-Key", this.key).statusCode() == 200);
	}

	/**
	 * Its owner has died at once, so that it was never announced.
	 */
	@Test
	void showsAClaimOnceARequestWasRefusedBecauseOfIt() {
		IdempotencyKey claimed = IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "test", "", "", this.key);
		String token = new RunOrigin(Instant.now(), Guarantee.LEASE, TRACEPARENT).toToken(UUID.randomUUID().toString());
		IdempotencyStore store = redisOwner.bean(IdempotencyStore.class);
		store.claim(claimed, Fingerprint.of(List.of()), token, Duration.ofMinutes(1),
				new RunDescription("died", "7@node", false));
		assertThat(running(redisOther, "died")).isNull();
		assertThat(redisOther.post("/payments", "", "Idempotency-Key", this.key).statusCode()).isIn(409, 422);
		JsonNode listed = Objects.requireNonNull(running(redisOther, "died"));
		assertThat(listed.get("digest").asString()).isEqualTo(claimed.digest());
		assertThat(listed.get("instance").asString()).isEqualTo("7@node");
		assertThat(json(get(redisOwner, "running?traceId=4bf92f3577b34da6a3ce929d0e0e4736")).get("number").asInt())
			.isOne();
		assertThat(store.release(claimed, token)).isTrue();
		assertThat(running(redisOther, "died")).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "operation=Payments.pay, true", "operation=Payments.transfer, false", "instance=@, true",
			"instance=nobody, false", "traceId=4bf92f3577b34da6a3ce929d0e0e4736, false" })
	void filtersTheList(String query, boolean listed) throws Exception {
		Gate gate = redisOwner.bean(Payments.class).holdNextRun();
		CompletableFuture<HttpResponse<byte[]>> run = redisOwner.postAsync("/payments", "", "Idempotency-Key",
				this.key);
		gate.awaitEntry();
		assertThat(json(get(redisOwner, "running?" + query)).get("number").asInt()).isEqualTo(listed ? 1 : 0);
		gate.open();
		assertThat(run.get().statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "operation=, is empty", "limit=0, not a valid number", "limit=501, not a valid number" })
	void explainsInvalidParameters(String query, String problem) {
		HttpResponse<byte[]> response = get(redisOwner, "running?" + query);
		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(text(response)).contains(problem);
	}

	private HttpRequest payment(URI uri) {
		return HttpRequest.newBuilder(uri)
			.header("Idempotency-Key", this.key)
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(""))
			.build();
	}

	private static @Nullable JsonNode running(RunningApplication application, String operation) {
		JsonNode answer = json(get(application, "running?operation=" + operation));
		assertThat(answer.get("number").asInt()).isLessThanOrEqualTo(1);
		assertThat(answer.get("complete").asBoolean()).isTrue();
		return answer.at("/running/0").isMissingNode() ? null : answer.at("/running/0");
	}

	private static HttpResponse<byte[]> get(RunningApplication application, String path) {
		return application.send(application.request("/actuator/idempotency/" + path).GET().build());
	}

	private static JsonNode json(HttpResponse<byte[]> response) {
		assertThat(response.statusCode()).as(text(response)).isEqualTo(200);
		return JsonMapper.shared().readTree(response.body());
	}

	/**
	 * An instance whose first payment does not end.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class HoldingApplication {

		@Bean
		ApplicationRunner holding(Payments payments) {
			return (arguments) -> payments.holdNextRun();
		}

	}

}
