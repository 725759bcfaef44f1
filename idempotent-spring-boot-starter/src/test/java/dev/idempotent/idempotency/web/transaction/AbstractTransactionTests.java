package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * When the work of a handler is committed or rolled back, and what a retry receives.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
abstract class AbstractTransactionTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final Class<?> source;

	private final String[] flags;

	@SuppressWarnings("NullAway.Init")
	private WebApplication application;

	@SuppressWarnings("NullAway.Init")
	private Works works;

	AbstractTransactionTests(Class<?> source, String... flags) {
		this.source = source;
		this.flags = flags;
	}

	@BeforeAll
	void start() {
		this.application = TransactionApplication.start(this.source, redis, postgres, this.flags);
		this.works = this.application.bean(Works.class);
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	WebApplication application() {
		return this.application;
	}

	@ParameterizedTest
	@CsvSource({ "created, 201", "declined, 402", "conflict, 409", "after-commit, 201", "read-only, 201" })
	void commitsWhatTheHandlerReturns(String ending, int status) {
		Attempt attempt = new Attempt(ending);
		HttpResponse<byte[]> first = attempt.send();
		HttpResponse<byte[]> retry = attempt.send();

		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(attempt.rows()).isOne();
		attempt.assertReplayed(first, retry);
	}

	@ParameterizedTest
	@CsvSource({ "checked, 422", "no-rollback, 402", "not-found, 404", "send-error, 404", "caught-declined, 422",
			"before-commit, 402" })
	void rollsBackARefusalAndReplaysIt(String ending, int status) {
		Attempt attempt = new Attempt(ending);
		int before = attempt.runs();
		HttpResponse<byte[]> first = attempt.send();
		HttpResponse<byte[]> retry = attempt.send();

		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(attempt.rows()).isZero();
		assertThat(attempt.runs()).isEqualTo(before + 1);
		attempt.assertReplayed(first, retry);
	}

	@ParameterizedTest
	@CsvSource({ "runtime, 500", "unavailable, 503", "throws-conflict, 409", "limited, 429", "broken, 503",
			"flush-throw, 500", "async, 500", "dispatch, 500", "lost, 500", "lost-at-commit, 500",
			"handled-as-ok, 200" })
	void rollsBackOtherOutcomesAndRunsARetry(String ending, int status) {
		Attempt attempt = new Attempt(ending);
		int before = attempt.runs();
		assertThat(attempt.send().statusCode()).isEqualTo(status);
		assertThat(attempt.rows()).isZero();
		assertThat(attempt.send().statusCode()).isEqualTo(status);
		assertThat(attempt.runs()).isEqualTo(before + 2);
		assertThat(attempt.rows()).isZero();
	}

	@Test
	void answers500InPlaceOfASuccessThatWasUndone() {
		Attempt attempt = new Attempt("caught");
		HttpResponse<byte[]> first = attempt.send();
		assertProblem(first, "rolled-back");
		assertThat(attempt.rows()).isZero();
		assertThat(attempt.send().headers().firstValue("Idempotent-Replayed")).isEmpty();
	}

	@Test
	void neverStoresAnEmptyResponseAfterALostConnectionUnderALease() {
		Attempt attempt = new Attempt("/lease/", "lost");
		int before = attempt.runs();
		assertThat(attempt.send().statusCode()).isEqualTo(500);
		assertThat(attempt.send().statusCode()).isEqualTo(500);
		assertThat(attempt.runs()).isEqualTo(before + 2);
	}

	@Test
	void commitsWorkWhoseResponseIsTooLongToStore() {
		Attempt attempt = new Attempt("large");
		assertThat(text(attempt.send())).hasSize(20_000);
		HttpResponse<byte[]> retry = attempt.send();
		assertThat(retry.statusCode()).isEqualTo(409);
		assertThat(text(retry)).contains("response-not-kept");
		assertThat(attempt.rows()).isOne();
	}

	@Test
	void rollsBackWorkWhoseResponseIsTooLongToBuffer() {
		Attempt attempt = new Attempt("huge");
		HttpResponse<byte[]> first = attempt.send();
		assertThat(first.statusCode()).isEqualTo(500);
		assertThat(text(first)).contains("idempotent.web.max-buffered-response");
		assertThat(attempt.rows()).isZero();
	}

	@Test
	void answersWithThePageThatTheHandlerForwardsTo() {
		Attempt attempt = new Attempt("/forwarded", "");
		HttpResponse<byte[]> first = attempt.send();
		HttpResponse<byte[]> retry = attempt.send();
		assertThat(text(first)).startsWith("shown ");
		assertThat(attempt.rows()).isOne();
		attempt.assertReplayed(first, retry);
	}

	@Test
	void usesTheAttributesOfTheHandlersTransactionalAnnotation() {
		assertThat(text(new Attempt("/attributes", "").send())).contains("\"isolation\":8", "\"timeLeft\":true",
				WorkController.class.getName() + ".attributes");
	}

	@Test
	void doesNotRollBackSuspendedWorkAndWarnsOnce(CapturedOutput output) {
		new Attempt("requires-new").send();
		Attempt attempt = new Attempt("requires-new");
		assertThat(attempt.send().statusCode()).isEqualTo(402);
		assertThat(attempt.rows()).isZero();
		assertThat(this.works.count(attempt.name + "-apart")).isOne();
		assertThat(output.getOut().split("suspends its transaction", -1)).hasSize(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "created", "not-found" })
	void answersFromTheDatabaseWhatRedisHasForgotten(String ending) {
		Attempt attempt = new Attempt(ending);
		HttpResponse<byte[]> first = attempt.send();
		int before = attempt.runs();
		forgetEverything();
		attempt.assertReplayed(first, attempt.send());
		assertThat(attempt.runs()).isEqualTo(before);
		// The response is in Redis.
		attempt.assertReplayed(first, attempt.send());
	}

	@Test
	void refusesAnotherRequestIfRedisHasLostTheKey() {
		Attempt attempt = new Attempt("created");
		attempt.send();
		forgetEverything();
		HttpResponse<byte[]> other = this.application.post("/jobs/declined?name=" + attempt.name, "{}",
				"Idempotency-Key", attempt.key);
		assertThat(other.statusCode()).isEqualTo(422);
		assertThat(attempt.rows()).isOne();
	}

	void forgetEverything() {
		redis.connect().getConnection().serverCommands().flushAll();
	}

	/**
	 * A request with its own key, which can be sent repeatedly.
	 */
	final class Attempt {

		final String name = "work-" + UUID.randomUUID();

		final String key = UUID.randomUUID().toString();

		private final String path;

		Attempt(String ending) {
			this("/jobs/", ending);
		}

		Attempt(String path, String ending) {
			this.path = path + ending + "?name=" + this.name;
		}

		HttpResponse<byte[]> send() {
			return AbstractTransactionTests.this.application.post(this.path, "{}", "Idempotency-Key", this.key);
		}

		int rows() {
			return AbstractTransactionTests.this.works.count(this.name);
		}

		int runs() {
			return AbstractTransactionTests.this.application.bean(WorkController.class).runs();
		}

		void assertReplayed(HttpResponse<byte[]> first, HttpResponse<byte[]> retry) {
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(retry.statusCode()).isEqualTo(first.statusCode());
			assertThat(retry.body()).isEqualTo(first.body());
			assertThat(retry.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"));
			assertThat(retry.headers().firstValue("Content-Type"))
				.isEqualTo(first.headers().firstValue("Content-Type"));
		}

	}

}
