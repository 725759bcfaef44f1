package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.web.transaction.HoldApplication.HoldController;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A cancel and its action at the same time, on two instances.
 */
abstract class AbstractConcurrentCancelTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static final List<WebApplication> instances = new ArrayList<>();

	@SuppressWarnings("NullAway.Init")
	private WebApplication one;

	@SuppressWarnings("NullAway.Init")
	private WebApplication other;

	private final String name = "hold-" + UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	private final Gate gate = new Gate();

	/**
	 * Both wait long for a lock.
	 */
	@BeforeEach
	void startOnce() {
		if (instances.isEmpty()) {
			instances.add(start("60s"));
			instances.add(start("60s"));
		}
		this.one = instances.get(0);
		this.other = instances.get(1);
	}

	@AfterAll
	static void stop() {
		instances.forEach(WebApplication::close);
		instances.clear();
	}

	@ParameterizedTest
	@CsvSource({ "gate, 201, 1, 201, 1", "refused-gate, 204, 0, 410, 0" })
	void waitsForAnActionThatIsNotCommitted(String ending, int status, int releases, int late, int holds)
			throws Exception {
		this.one.bean(HoldController.class).holdUpAt(this.gate);
		CompletableFuture<HttpResponse<byte[]>> acting = act(this.one, ending);
		this.gate.awaitEntry();
		CompletableFuture<HttpResponse<byte[]>> cancelling = cancel(this.other, "created", "unknown");
		awaitAWaitingLock(this.one);
		this.gate.open();
		acting.join();
		assertThat(cancelling.join().statusCode()).isEqualTo(status);
		assertThat(count(this.one, HoldController.RELEASED + this.name)).isEqualTo(releases);
		assertThat(act(this.other, ending).join().statusCode()).isEqualTo(late);
		assertThat(count(this.one, this.name)).isEqualTo(holds);
	}

	@Test
	void isRefusedWhileAnActionRunsLongerThanTheLockTimeout() throws Exception {
		try (WebApplication one = start("100ms"); WebApplication other = start("100ms")) {
			one.bean(HoldController.class).holdUpAt(this.gate);
			CompletableFuture<HttpResponse<byte[]>> acting = act(one, "gate");
			this.gate.awaitEntry();
			for (String outcome : List.of("unknown", "done")) {
				HttpResponse<byte[]> refused = cancel(other, "created", outcome).join();
				assertThat(refused.statusCode()).isEqualTo(409);
				assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
				assertThat(text(refused)).contains("urn:problem-type:idempotency:in-progress");
			}
			this.gate.open();
			assertThat(acting.join().statusCode()).isEqualTo(201);
			assertThat(cancel(other, "created", "unknown").join().statusCode()).isEqualTo(201);
			assertThat(count(one, HoldController.RELEASED + this.name)).isOne();
		}
	}

	/**
	 * Whichever comes first: the action and its undoing both happen, or neither.
	 */
	@Test
	void leavesNoEffectWhenBothArriveAtOnce() {
		for (int i = 0; i < 30; i++) {
			String held = this.name + i;
			List<CompletableFuture<HttpResponse<byte[]>>> calls = IntStream.range(0, 6)
				.mapToObj((n) -> (n % 2 == 0)
						? this.one.postAsync("/holds/created?name=" + held, "{}", "Idempotency-Key", this.key + held)
						: this.other.postAsync("/releases/created?name=" + held, "{}", "Idempotency-Key",
								"undo-" + held, "Idempotency-Cancels", this.key + held))
				.toList();
			Map<Integer, Long> statuses = calls.stream()
				.map(CompletableFuture::join)
				.collect(Collectors.groupingBy(HttpResponse::statusCode, Collectors.counting()));
			assertThat(statuses.keySet()).isSubsetOf(201, 204, 409, 410);
			assertThat(this.other
				.post("/releases/created?name=" + held, "{}", "Idempotency-Key", "undo-" + held, "Idempotency-Cancels",
						this.key + held)
				.statusCode()).isIn(201, 204);
			this.one.post("/holds/created?name=" + held, "{}", "Idempotency-Key", this.key + held);
			assertThat(count(this.one, held)).isEqualTo(count(this.one, HoldController.RELEASED + held));
		}
	}

	private CompletableFuture<HttpResponse<byte[]>> act(WebApplication application, String ending) {
		return application.postAsync("/holds/" + ending + "?name=" + this.name, "{}", "Idempotency-Key", this.key);
	}

	private CompletableFuture<HttpResponse<byte[]>> cancel(WebApplication application, String ending, String outcome) {
		return application.postAsync("/releases/" + ending + "?name=" + this.name, "{}", "Idempotency-Key",
				"undo-" + this.key, "Idempotency-Cancels", this.key + "; outcome=" + outcome);
	}

	private static int count(WebApplication application, String name) {
		return application.bean(Works.class).count(name);
	}

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	/**
	 * A query for the number of transactions that wait for another one.
	 */
	abstract String waiting();

	private void awaitAWaitingLock(WebApplication application) {
		JdbcTemplate observer = application.bean(JdbcTemplate.class);
		await().until(() -> observer.queryForObject(waiting(), Integer.class) > 0);
	}

	private WebApplication start(String lockTimeout) {
		return WebApplication.start(HoldApplication.class, redis,
				Stream
					.concat(database().stream(), Stream.of(WebApplication.WITH_DATABASE,
							"idempotent.jdbc.initialize-schema=always", "idempotent.jdbc.lock-timeout=" + lockTimeout))
					.toArray(String[]::new));
	}

}
