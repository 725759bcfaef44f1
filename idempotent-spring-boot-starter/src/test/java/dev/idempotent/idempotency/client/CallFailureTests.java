package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import dev.idempotent.idempotency.Samples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClientResponseException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CallFailure}.
 */
class CallFailureTests {

	private static final String CALL = "POST /charges";

	private IdempotencyContext run = new IdempotencyContext(Samples.key(), "token");

	@ParameterizedTest
	@ValueSource(ints = { 400, 402, 404, 405, 410, 413, 422, 451 })
	void isARefusalAtTheFirstAttemptOrAsAReplay(int status) {
		call(status, false);
		assertThat(classify(status, true)).isEqualTo(CallFailure.REFUSED);
		assertThat(classify(status, false)).isEqualTo(CallFailure.UNKNOWN);
		this.run = new IdempotencyContext(Samples.key(), "token");
		call(status, true);
		assertThat(classify(status, false)).isEqualTo(CallFailure.REFUSED);
	}

	@ParameterizedTest
	@ValueSource(ints = { 401, 403, 408, 409, 412, 425, 428, 429, 500, 502, 503, 504, 302 })
	void isUnknownAfterOtherStatuses(int status) {
		call(status, true);
		assertThat(classify(status, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	@Test
	void isUnknownWithoutAResponse() {
		call(404, true);
		assertThat(CallFailure.of(new ResourceAccessException("reset", new IOException()), this.run, true, Set.of()))
			.isEqualTo(CallFailure.UNKNOWN);
		assertThat(CallFailure.of(new IllegalStateException(), this.run, true, Set.of()))
			.isEqualTo(CallFailure.UNKNOWN);
	}

	@Test
	void isUnknownIfTheResponseWasNotObserved() {
		assertThat(classify(404, true)).isEqualTo(CallFailure.UNKNOWN);
		call(200, false);
		assertThat(classify(404, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	@Test
	void isARefusalAfterAnAttemptWithoutAnAnswerOnlyAsAReplay() {
		this.run.derive("gateway", CALL, Samples.fingerprint("one")).markUnanswered();
		call(404, false);
		assertThat(classify(404, true)).isEqualTo(CallFailure.UNKNOWN);
		call(503, false).markUnanswered();
		call(404, true);
		assertThat(classify(404, true)).isEqualTo(CallFailure.UNKNOWN);
		this.run = new IdempotencyContext(Samples.key(), "token");
		call(503, false).markUnanswered();
		call(404, true);
		assertThat(classify(404, true)).isEqualTo(CallFailure.REFUSED);
	}

	@Test
	void isUnknownAfterAnyOtherCall() {
		this.run.observe(Samples.fingerprint("other")).markDone();
		call(404, true);
		assertThat(classify(404, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			text/plain               | Invalid name: "type":"urn:problem-type:idempotency:key-reused"
			application/problem+json | {"detail":"Name: \\"type\\":\\"urn:problem-type:idempotency:key-reused\\""}
			""")
	void takesWhatTheServiceRepeatsOfTheRequestForNoReusedKey(String type, String body) {
		HttpHeaders headers = new HttpHeaders();
		headers.set("Content-Type", type);
		call(422, false);
		assertThat(CallFailure.of(response(422, headers, body), this.run, true, Set.of()))
			.isEqualTo(CallFailure.REFUSED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "urn:problem-type:idempotency:", "https://docs.example.com/problems/",
			"https://docs.example.com/problems#" })
	void recognizesAReusedKeyAtAnyAttempt(String baseUri) {
		HttpHeaders headers = new HttpHeaders();
		headers.set("Content-Type", "application/problem+json;charset=UTF-8");
		RestClientResponseException reused = response(422, headers,
				"{\"type\":\"" + baseUri + "key-reused\",\"status\":422}");
		assertThat(CallFailure.of(reused, this.run, true, Set.of())).isEqualTo(CallFailure.KEY_REUSED);
		assertThat(CallFailure.of(reused, this.run, false, Set.of())).isEqualTo(CallFailure.KEY_REUSED);
	}

	@Test
	void findsTheResponseAmongTheCauses() {
		call(404, false);
		Throwable wrapped = new IllegalStateException(new IOException(response(404, new HttpHeaders(), "")));
		assertThat(CallFailure.of(wrapped, this.run, true, Set.of())).isEqualTo(CallFailure.REFUSED);
	}

	@Test
	void endsWithCausesThatAreACircle() {
		Exception one = new Exception();
		Exception other = new Exception(one);
		one.initCause(other);
		assertThat(CallFailure.of(one, this.run, true, Set.of())).isEqualTo(CallFailure.UNKNOWN);
	}

	private CallAttempt call(int status, boolean replayed) {
		CallAttempt attempt = this.run.derive("gateway", CALL, Samples.fingerprint("one"));
		attempt.markAnswered(new Answer(status, replayed));
		return attempt;
	}

	private CallFailure classify(int status, boolean firstAttempt) {
		return CallFailure.of(response(status, new HttpHeaders(), ""), this.run, firstAttempt, Set.of());
	}

	private static RestClientResponseException response(int status, HttpHeaders headers, String body) {
		return new RestClientResponseException("refused", HttpStatusCode.valueOf(status), "", headers,
				body.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
	}

}
