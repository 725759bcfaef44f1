package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.redis.RedisValues;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyFilter}: what a client gets, row by row of the table in
 * docs/how-it-works.md.
 */
class IdempotencyFilterIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	private static final String ORDER = "{\"item\":\"coupon\",\"amount\":1}";

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(OperationsApplication.class, redis, WebApplication.WITH_OPERATIONS))
		.resetting(Operations.class, Operations::reset);

	private final Operations operations = application.bean(Operations.class);

	private final String key = UUID.randomUUID().toString();

	@Test
	void replaysTheFirstAnswerToARetry() {
		HttpResponse<byte[]> first = application.post("/orders", ORDER, KEY, this.key);
		HttpResponse<byte[]> retry = application.post("/orders", ORDER, KEY, this.key);

		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(retry.statusCode()).isEqualTo(201);
		assertThat(retry.body()).isEqualTo(first.body()).isNotEmpty();
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		for (String name : new String[] { "Content-Type", "Content-Length", "Location", "X-Order" }) {
			assertThat(retry.headers().allValues(name)).isEqualTo(first.headers().allValues(name)).isNotEmpty();
		}
		assertThat(first.headers().firstValue("Set-Cookie")).isPresent();
		assertThat(retry.headers().firstValue("Set-Cookie")).isEmpty();
		assertThat(this.operations.runs()).isOne();
	}

	@Test
	void comparesJsonByMeaning() {
		application.post("/orders", ORDER, KEY, this.key);
		HttpResponse<byte[]> retry = application.post("/orders", "{ \"amount\": 1.0, \"item\": \"\\u0063oupon\" }", KEY,
				'"' + this.key + '"');
		assertThat(retry.statusCode()).isEqualTo(201);
		assertThat(this.operations.runs()).isOne();
	}

	@Test
	void answers409WhileTheFirstRequestRuns() throws Exception {
		Gate gate = this.operations.closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/gated", "", KEY, this.key);
		gate.awaitEntry();

		HttpResponse<byte[]> duplicate = application.post("/gated", "", KEY, this.key);
		assertProblem(duplicate, "in-progress");
		assertThat(duplicate.headers().firstValueAsLong("Retry-After")).hasValue(1);

		gate.open();
		assertThat(text(first.join())).isEqualTo("through");
		assertThat(text(application.post("/gated", "", KEY, this.key))).isEqualTo("through");
		assertThat(this.operations.runs()).isOne();
	}

	@Test
	void runsOnceEvenIfTheHandlerTakesLongerThanItsLease() throws Exception {
		Gate gate = this.operations.closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/gated", "", KEY, this.key);
		gate.awaitEntry();

		await().during(Operations.LEASE.plusSeconds(1))
			.until(() -> application.post("/gated", "", KEY, this.key).statusCode() == 409);

		gate.open();
		assertThat(first.join().statusCode()).isEqualTo(200);
		assertThat(application.post("/gated", "", KEY, this.key).statusCode()).isEqualTo(200);
		assertThat(this.operations.runs()).isOne();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
			/orders           | {"item":"coupon","amount":2}
			/orders?shop=1    | {"item":"coupon","amount":1}
			/answers/200      | {"item":"coupon","amount":1}
			""")
	void refusesAKeyThatWasUsedForAnotherRequest(String path, String body) {
		application.post("/orders", ORDER, KEY, this.key);
		HttpResponse<byte[]> other = application.post(path, body, KEY, this.key);
		assertProblem(other, "key-reused");
		assertThat(text(other)).contains("Nothing was done for this request", "it counts",
				"send the first request again unchanged, or look it up",
				"another key only for what you want as a second operation");
		assertThat(this.operations.runs()).isOne();
	}

	@Test
	void refusesAKeyThatIsBeingUsedForAnotherRequest() throws Exception {
		Gate gate = this.operations.closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/gated", "", KEY, this.key);
		gate.awaitEntry();
		assertProblem(application.post("/gated", "{}", KEY, this.key), "key-reused");
		gate.open();
		assertThat(first.join().statusCode()).isEqualTo(200);
	}

	@Test
	void refusesAMissingKey() {
		assertProblem(application.post("/orders", ORDER), "key-missing");
		assertThat(this.operations.runs()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "two words", "\"open", "" })
	void refusesAMalformedKey(String malformed) {
		assertProblem(application.post("/orders", ORDER, KEY, malformed), "key-malformed");
		assertThat(this.operations.runs()).isZero();
	}

	@Test
	void refusesAKeySentTwice() {
		assertProblem(application.post("/orders", ORDER, KEY, this.key, KEY, this.key), "key-malformed");
	}

	@Test
	void refusesABodyOverTheLimit() {
		HttpResponse<byte[]> response = application.post("/throws", "x".repeat(1024 * 1024 + 1), KEY, this.key);
		assertProblem(response, "request-too-large");
		assertThat(this.operations.runs()).isZero();
	}

	@Test
	void sendsALargeResponseInFullAndNeverRunsAgain() {
		HttpResponse<byte[]> first = application.post("/large/3000000", "", KEY, this.key);
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(first.body()).hasSize(3_000_000);
		assertProblem(application.post("/large/3000000", "", KEY, this.key), "response-not-kept");
		assertThat(this.operations.runs()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"item\":\"coupon\",\"amount\":0}", "{\"item\":", "[]" })
	void releasesTheKeyIfTheHandlerWasNotEntered(String refused) {
		assertThat(application.post("/orders", refused, KEY, this.key).statusCode()).isEqualTo(400);
		HttpResponse<byte[]> corrected = application.post("/orders", ORDER, KEY, this.key);
		assertThat(corrected.statusCode()).isEqualTo(201);
		assertThat(this.operations.runs()).isOne();
	}

	@Test
	void refusesRequestsWhileTheStoreIsUnreachable() {
		redis.stop();
		HttpResponse<byte[]> refused = application.post("/answers/200", "", KEY, this.key);
		assertProblem(refused, "store-unreachable");
		assertThat(refused.headers().firstValueAsLong("Retry-After")).hasValue(1);
		assertThat(this.operations.runs()).isZero();

		redis.start();
		await().untilAsserted(
				() -> assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1"));
		assertThat(text(application.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");
	}

	@Test
	void answersTheClientAndStoresInTheBackgroundWhenTheStoreIsLostDuringTheRun() throws Exception {
		Gate gate = this.operations.closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/held", "", KEY, this.key);
		gate.awaitEntry();
		redis.stop();
		gate.open();
		assertThat(text(first.join())).isEqualTo("through");

		redis.start();
		RedisValues values = new RedisValues(redis.connect());
		await().until(() -> values.states().equals(List.of(StoredKey.State.COMPLETED)));
		assertThat(text(application.post("/held", "", KEY, this.key))).isEqualTo("through");
		assertThat(this.operations.runs()).isOne();
	}

	@Test
	void doesNotAffectOtherHandlers() {
		assertThat(text(application.post("/plain", "{}", KEY, this.key))).startsWith("run 1");
		assertThat(text(application.post("/plain", "{}", KEY, this.key))).startsWith("run 2");
	}

}
