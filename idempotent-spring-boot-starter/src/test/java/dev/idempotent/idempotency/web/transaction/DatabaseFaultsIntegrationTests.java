package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.redis.RedisValues;
import dev.idempotent.testing.DocumentedProblem;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Responses when the database fails at the worst moment, and to a retry.
 */
class DatabaseFaultsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final StallingProxy proxy = StallingProxy.before(postgres);

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> TransactionApplication.start(
			TransactionApplication.class, redis, postgres, WebApplication.WITH_DATABASE,
			"spring.datasource.url=jdbc:postgresql://" + proxy.host() + ":" + proxy.port()
					+ "/postgres?socketTimeout=3&ApplicationName=under-test",
			"spring.datasource.hikari.connection-timeout=5000", "spring.datasource.hikari.validation-timeout=1000"));

	@SuppressWarnings("NullAway.Init")
	private static JdbcTemplate observer;

	private final String name = "work-" + UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void observe() {
		observer = new JdbcTemplate(postgres.connect());
	}

	@AfterEach
	void bringTheDatabaseBack() {
		proxy.resume();
		application.bean(WorkController.class).holdUpAt(null);
	}

	@Tag("long")
	@Test
	void answersWhatWasCommittedThoughTheReplyToTheCommitIsLost() throws Exception {
		HttpResponse<byte[]> first = atTheCommit(proxy::dropNextReply);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(proxy.hasDropped()).isTrue();
		assertThat(rows()).isOne();
		assertReplayed(first, post("commit-gate"));
		assertThat(rows()).isOne();
	}

	@Test
	void freesTheKeyWhenTheConnectionIsLostBeforeTheCommit() throws Exception {
		HttpResponse<byte[]> first = inTheHandler(() -> observer.queryForList(
				"select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'under-test' "
						+ "and state = 'idle in transaction'"));
		assertThat(first.statusCode()).isEqualTo(500);
		assertThat(rows()).isZero();
		assertThat(post("gate").statusCode()).isEqualTo(201);
		assertThat(rows()).isOne();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void reportsAnUnknownOutcomeWhileTheDatabaseIsSilentAndRunsOnce(CapturedOutput output) throws Exception {
		HttpResponse<byte[]> first = atTheCommit(proxy::hold);
		assertProblem(first, "outcome-unknown");
		assertThat(output.getOut().lines().filter((line) -> line.contains("unknown whether its work was committed")))
			.singleElement()
			.asString()
			.contains("WARN", String.valueOf(DocumentedProblem.members(first).get("instance")))
			.containsPattern("A retry with the same key learns the outcome: \\S+");
		proxy.resume();
		await().until(() -> post("commit-gate").statusCode() == 201);
		assertThat(rows()).isOne();
	}

	@Test
	void answers503WhileTheDatabaseIsAwayAndRunsARetry() {
		proxy.hold();
		HttpResponse<byte[]> refused = post("created");
		assertThat(refused.statusCode()).isEqualTo(503);
		assertThat(text(refused)).contains("store-unreachable");
		proxy.resume();
		await().until(() -> post("created").statusCode() == 201);
		assertThat(rows()).isOne();
	}

	@Test
	void answersFromTheDatabaseBeforeTheLeaseOfADeadOwnerEnds() {
		StringRedisTemplate template = application.bean(StringRedisTemplate.class);
		template.delete(template.keys("*"));
		HttpResponse<byte[]> first = post("created");
		String stored = template.keys("*[0-9a-f]").iterator().next();
		// As if the process had crashed between its commit and its update of Redis.
		new RedisValues(redis.connect()).pending(stored, "of-the-dead", new Fingerprint(0, "any"));
		template.expire(stored, Duration.ofSeconds(1));
		assertReplayed(first, post("created"));
		assertThat(rows()).isOne();
	}

	private HttpResponse<byte[]> atTheCommit(Runnable fault) throws Exception {
		return whileHeldUp("commit-gate", fault);
	}

	private HttpResponse<byte[]> inTheHandler(Runnable fault) throws Exception {
		return whileHeldUp("gate", fault);
	}

	private HttpResponse<byte[]> whileHeldUp(String ending, Runnable fault) throws Exception {
		Gate gate = new Gate();
		application.bean(WorkController.class).holdUpAt(gate);
		CompletableFuture<HttpResponse<byte[]>> answer = application.postAsync(path(ending), "{}", "Idempotency-Key",
				this.key);
		gate.awaitEntry();
		application.bean(WorkController.class).holdUpAt(null);
		fault.run();
		gate.open();
		return answer.join();
	}

	private HttpResponse<byte[]> post(String ending) {
		return application.post(path(ending), "{}", "Idempotency-Key", this.key);
	}

	private String path(String ending) {
		return "/jobs/" + ending + "?name=" + this.name;
	}

	private int rows() {
		return observer.queryForObject("select count(*) from work where name = ?", Integer.class, this.name);
	}

	private static void assertReplayed(HttpResponse<byte[]> first, HttpResponse<byte[]> retry) {
		assertThat(retry.statusCode()).isEqualTo(first.statusCode());
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

}
