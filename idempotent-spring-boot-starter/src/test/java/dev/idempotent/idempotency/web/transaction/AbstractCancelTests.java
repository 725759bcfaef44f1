package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Evidence;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyReceipt;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import dev.idempotent.idempotency.web.transaction.HoldApplication.HoldController;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a cancel does, for each state of its action. The caller does not know the outcome
 * unless a test says that the action was done.
 */
abstract class AbstractCancelTests extends AbstractTomcatAndJettyTests {

	/**
	 * In every time zone.
	 */
	private static final Duration LONG_AGO = Duration.ofDays(2);

	private final String name = "hold-" + UUID.randomUUID();

	private final String undo = UUID.randomUUID().toString();

	@AfterEach
	void unbind() {
		IdempotencyContext.bind(null);
	}

	@Test
	void preventsAnActionThatHasNotArrived() {
		assertThat(cancel("created", "unknown").statusCode()).isEqualTo(204);
		assertThat(releases()).isZero();
		HttpResponse<byte[]> first = act("created");
		for (int i = 0; i < 3; i++) {
			HttpResponse<byte[]> late = act("created");
			assertProblem(late, "cancelled");
			assertThat(late.body()).isEqualTo(first.body());
			redis.flush();
		}
		assertThat(holds()).isZero();
	}

	@Test
	void preventsAnActionWhateverItsContent() {
		cancel("created", "unknown");
		assertThat(act("large").statusCode()).isEqualTo(410);
		redis.flush();
		assertThat(act("created").statusCode()).isEqualTo(410);
	}

	/**
	 * A gateway has lost the body of the first request.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void isTheSameCancellationWithAnotherBody(boolean done) {
		if (done) {
			act("created");
		}
		HttpResponse<byte[]> emptied = cancel("created", this.key + "; outcome=unknown", this.undo, "");
		assertThat(emptied.statusCode()).isBetween(200, 204);
		HttpResponse<byte[]> whole = cancel("created", "unknown");
		assertThat(whole.statusCode()).isEqualTo(emptied.statusCode());
		assertThat(receipt(whole)).isEqualTo(IdempotencyReceipt.of(this.undo));
		assertThat(releases()).isEqualTo(done ? 1 : 0);
		assertThat(cancel("created", "another-" + this.key, this.undo).statusCode()).isEqualTo(422);
	}

	@Test
	void treatsAMissingOutcomeAsUnknown() {
		assertThat(cancel("created", "\"" + this.key + "\"", this.undo).statusCode()).isEqualTo(204);
		assertThat(releases()).isZero();
	}

	@Test
	void refusesToUndoADoneActionThatIsNotOnRecordAnyMore() {
		act("created");
		expire(this.key);
		HttpResponse<byte[]> refused = cancel("created", "done");
		assertProblem(refused, "action-unknown");
		assertThat(cancel("created", "done").body()).isEqualTo(refused.body());
		assertThat(releases()).isZero();
		assertThat(act("created").statusCode()).isEqualTo(410);
		assertThat(holds()).isOne();
	}

	@Test
	void refusesToUndoADoneActionThatHasNeverArrived() {
		assertProblem(cancel("created", "done"), "action-unknown");
		assertThat(releases()).isZero();
		assertThat(act("created").statusCode()).isEqualTo(410);
		assertThat(holds()).isZero();
	}

	@Test
	void givesReceiptsForAnswersAndReplays() {
		for (HttpResponse<byte[]> answer : List.of(act("created"), act("created"))) {
			assertThat(receipt(answer)).isEqualTo(IdempotencyReceipt.of(this.key));
		}
		for (HttpResponse<byte[]> answer : List.of(cancel("created", "done"), cancel("created", "done"))) {
			assertThat(receipt(answer)).isEqualTo(IdempotencyReceipt.of(this.undo));
		}
		HttpResponse<byte[]> reused = act("large");
		assertThat(reused.statusCode()).isEqualTo(422);
		assertThat(receipt(reused)).isEqualTo(IdempotencyReceipt.OPEN);
	}

	@Test
	void givesReceiptsForRefusals() {
		for (HttpResponse<byte[]> answer : List.of(act("refused"), act("refused"))) {
			assertThat(answer.statusCode()).isEqualTo(422);
			assertThat(receipt(answer)).isEqualTo(IdempotencyReceipt.of(this.key));
		}
		assertThat(receipt(cancel("created", "unknown"))).isEqualTo(IdempotencyReceipt.of(this.undo));
	}

	private static String receipt(HttpResponse<byte[]> response) {
		return String.join(", ", response.headers().allValues(IdempotencyReceipt.HEADER));
	}

	@Test
	void doesNotRunForAnUnknownActionWhoseRecordHasExpired() {
		act("created");
		expire(this.key);
		assertThat(cancel("created", "unknown").statusCode()).isEqualTo(204);
		assertThat(releases()).isZero();
		assertThat(act("created").statusCode()).isEqualTo(410);
	}

	@ParameterizedTest
	@CsvSource({ "created, unknown", "created, done", "large, unknown", "large, done" })
	void undoesOnceWhatWasDone(String ending, String outcome) {
		HttpResponse<byte[]> done = act(ending);
		HttpResponse<byte[]> first = cancel("created", outcome);
		HttpResponse<byte[]> again = cancel("created", outcome);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(isReplay(first)).isFalse();
		assertThat(isReplay(again)).isTrue();
		assertThat(again.body()).isEqualTo(first.body());
		assertThat(releases()).isOne();
		HttpResponse<byte[]> duplicate = act(ending);
		assertThat(duplicate.statusCode()).isEqualTo(ending.equals("large") ? 409 : done.statusCode());
		assertThat(holds()).isOne();
	}

	@Test
	void undoesWhatAnotherInstanceHasDoneAfterTheLossOfRedis() {
		act("created");
		redis.flush();
		assertThat(cancel("created", "unknown").statusCode()).isEqualTo(201);
		redis.flush();
		assertThat(isReplay(cancel("created", "unknown"))).isTrue();
		assertThat(releases()).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "refused, unknown, 204, 422", "refused, done, 422, 422", "refused-large, unknown, 204, 409",
			"refused-large, done, 422, 409", "broken, unknown, 204, 410", "broken, done, 422, 410" })
	void doesNotRunForARefusedAction(String ending, String outcome, int status, int late) {
		act(ending);
		assertThat(holds()).isZero();
		assertThat(cancel("created", outcome).statusCode()).isEqualTo(status);
		assertThat(releases()).isZero();
		assertThat(act(ending).statusCode()).isEqualTo(late);
		assertThat(holds()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "unknown, 204", "done, 422" })
	void findsTheTombstoneOfAnotherCancellation(String outcome, int status) {
		cancel("created", this.key + "; outcome=unknown", "another-" + this.undo);
		assertThat(cancel("created", outcome).statusCode()).isEqualTo(status);
		assertThat(releases()).isZero();
		assertThat(act("created").statusCode()).isEqualTo(410);
	}

	@Test
	void keepsATombstoneAsLongAsTheAction() {
		cancel("created", "unknown");
		assertThat(application.bean(IdempotencyTransactionSource.class).records())
			.map((records) -> records.find(HoldApplication.keyOf(this.key)).remaining())
			.allMatch((remaining) -> remaining.toMinutes() == 36 * 60 - 1);
		expire(this.key);
		assertThat(act("created").statusCode()).isEqualTo(201);
	}

	@Test
	void repeatsAnEmptyAnswerToo() {
		cancel("created", "unknown");
		HttpResponse<byte[]> again = cancel("created", "unknown");
		assertThat(again.statusCode()).isEqualTo(204);
		assertThat(isReplay(again)).isTrue();
	}

	@Test
	void isNotRepeatedForAnotherAction() {
		cancel("created", "unknown");
		HttpResponse<byte[]> other = cancel("created", "other-" + this.key + "; outcome=unknown", this.undo);
		assertThat(other.statusCode()).isEqualTo(422);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ";", "; outcome=done", "key; outcome", "key; outcome=maybe", "key; outcome=\"done\"",
			"key; outcome=done; outcome=unknown", "key, other; outcome=done", "\"key; outcome=done", "a key" })
	void refusesAMalformedHeader(String header) {
		HttpResponse<byte[]> refused = cancel("created", header, this.undo);
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(text(refused)).contains("urn:problem-type:idempotency:key-malformed", "Idempotency-Cancels");
		assertThat(releases()).isZero();
	}

	@Test
	void refusesAMissingHeader() {
		HttpResponse<byte[]> refused = application.post("/releases/created?name=" + this.name, "{}", "Idempotency-Key",
				this.undo);
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(text(refused)).contains("urn:problem-type:idempotency:key-missing", "Idempotency-Cancels");
		HttpResponse<byte[]> twice = application.post("/releases/created?name=" + this.name, "{}", "Idempotency-Key",
				this.undo, "Idempotency-Cancels", "one", "Idempotency-Cancels", "two");
		assertThat(twice.statusCode()).isEqualTo(400);
		assertThat(releases()).isZero();
	}

	@Test
	void acceptsEachKeyThatTheKeyHeaderDoes() {
		String quoted = '"' + "\\\"".repeat(100) + ";" + this.key + '"';
		application.post("/holds/created?name=" + this.name, "{}", "Idempotency-Key", quoted);
		assertThat(cancel("created", quoted + ";outcome=unknown", this.undo).statusCode()).isEqualTo(201);
		assertThat(cancel("created", '"' + "x".repeat(256) + '"', "next-" + this.undo).statusCode()).isEqualTo(400);
		assertThat(cancel("created", "\\\"".repeat(2000), "next-" + this.undo).statusCode()).isEqualTo(400);
	}

	@Test
	void refusesToCancelItself() {
		assertThat(cancel("created", this.undo, this.undo).statusCode()).isEqualTo(400);
	}

	@Test
	void isFoundByTheCallsOfASaga() {
		IdempotencyKey action = Samples.key();
		IdempotencyKey cancel = Samples.key();
		IdempotencyContext acting = IdempotencyContext.forSingleCall(action, "token", null);
		call("/holds/created", acting);
		call("/releases/created", IdempotencyContext.forSingleCall(cancel, "token", action + "; outcome=unknown"));
		assertThat(releases()).isOne();
		assertThat(acting.calls()).isEqualTo(new IdempotencyContext.Calls(1, 1, 1, 0,
				new IdempotencyContext.Answer(201, false, Evidence.RECEIPT, false, null, false, false)));
	}

	@Test
	void makesTheLateCallOfASagaARefusal() {
		IdempotencyKey action = Samples.key();
		call("/releases/created",
				IdempotencyContext.forSingleCall(Samples.key(), "token", action + "; outcome=unknown"));
		IdempotencyContext late = IdempotencyContext.forSingleCall(action, "token", null);
		assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> call("/holds/created", late));
		assertThat(late.calls().lastAnswer())
			.isEqualTo(new IdempotencyContext.Answer(410, true, Evidence.RECEIPT, false, "cancelled", false, false));
		assertThat(holds()).isZero();
	}

	@Test
	void letsASagaRecognizeAReusedKey() {
		IdempotencyKey action = Samples.key();
		call("/holds/created", IdempotencyContext.forSingleCall(action, "token", null));
		IdempotencyContext reuse = IdempotencyContext.forSingleCall(action, "token", null);
		assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> call("/holds/large", reuse));
		assertThat(reuse.calls().lastAnswer())
			.isEqualTo(new IdempotencyContext.Answer(422, false, Evidence.OPEN, false, "key-reused", false, false));
	}

	private void call(String path, IdempotencyContext run) {
		IdempotencyContext.bind(run);
		RestClient.builder()
			.requestInterceptor(
					new IdempotencyKeyInterceptor(PropagationTargets.of(Map.of("shop", List.of("127.0.0.1")))))
			.build()
			.post()
			.uri(application.request(path + "?name=" + this.name).build().uri())
			.retrieve()
			.toBodilessEntity();
	}

	private HttpResponse<byte[]> act(String ending) {
		return post("/holds/" + ending + "?name=" + this.name);
	}

	private HttpResponse<byte[]> cancel(String ending, String outcome) {
		return cancel(ending, this.key + "; outcome=" + outcome, this.undo);
	}

	private HttpResponse<byte[]> cancel(String ending, String cancels, String undoKey) {
		return cancel(ending, cancels, undoKey, "{}");
	}

	private HttpResponse<byte[]> cancel(String ending, String cancels, String undoKey, String body) {
		return application.post("/releases/" + ending + "?name=" + this.name, body, "Idempotency-Key", undoKey,
				"Idempotency-Cancels", cancels);
	}

	private void expire(String expired) {
		assertThat(jdbc().update("update idempotency_record set expires_at = ? where key_digest = ?",
				Timestamp.from(Instant.now().minus(LONG_AGO)), HoldApplication.keyOf(expired).digest()))
			.isOne();
		redis.flush();
	}

	private int holds() {
		return application.bean(Works.class).count(this.name);
	}

	private int releases() {
		return application.bean(Works.class).count(HoldController.RELEASED + this.name);
	}

	private static JdbcTemplate jdbc() {
		return application.bean(JdbcTemplate.class);
	}

}
