package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import dev.idempotent.idempotency.DerivedKey;
import dev.idempotent.idempotency.IdempotencyContext;
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

	private final IdempotencyContext run = new IdempotencyContext(Samples.key(), "token");

	@ParameterizedTest
	@ValueSource(ints = { 400, 402, 404, 405, 410, 413, 422, 451 })
	void isARefusalAtTheFirstAttemptOrAsAReplay(int status) {
		call();
		assertThat(classify(status, false, true)).isEqualTo(CallFailure.REFUSED);
		assertThat(classify(status, true, false)).isEqualTo(CallFailure.REFUSED);
		assertThat(classify(status, false, false)).isEqualTo(CallFailure.UNKNOWN);
	}

	@ParameterizedTest
	@ValueSource(ints = { 401, 403, 408, 409, 412, 425, 428, 429, 500, 502, 503, 504, 302 })
	void isUnknownAfterOtherStatuses(int status) {
		assertThat(classify(status, true, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	@Test
	void isUnknownWithoutAResponse() {
		assertThat(CallFailure.of(new ResourceAccessException("reset", new IOException()), this.run, true))
			.isEqualTo(CallFailure.UNKNOWN);
		assertThat(CallFailure.of(new IllegalStateException(), this.run, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	@Test
	void isUnknownAfterAnAttemptOfTheSameRunWithoutAnAnswer() {
		DerivedKey key = call();
		key.markUnanswered();
		call();
		assertThat(classify(404, false, true)).isEqualTo(CallFailure.UNKNOWN);
		assertThat(classify(404, true, true)).isEqualTo(CallFailure.REFUSED);
	}

	@Test
	void isUnknownIfAnotherCallOfTheRunHasSucceeded() {
		call().markSucceeded();
		call();
		assertThat(classify(404, false, true)).isEqualTo(CallFailure.UNKNOWN);
		assertThat(classify(404, true, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	@Test
	void isUnknownAsAReplayIfAnotherCallOfTheRunIsUnanswered() {
		call().markUnanswered();
		this.run.derive("POST http://gateway/other", Samples.fingerprint("other"));
		assertThat(classify(404, true, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			text/plain               | Invalid name: "type":"urn:problem-type:idempotency:key-reused"
			application/problem+json | {"detail":"Name: \\"type\\":\\"urn:problem-type:idempotency:key-reused\\""}
			""")
	void takesWhatTheServiceRepeatsOfTheRequestForNoReusedKey(String type, String body) {
		HttpHeaders headers = new HttpHeaders();
		headers.set("Content-Type", type);
		assertThat(CallFailure.of(response(422, headers, body), this.run, true)).isEqualTo(CallFailure.REFUSED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "urn:problem-type:idempotency:", "https://docs.example.com/problems/",
			"https://docs.example.com/problems#" })
	void recognizesAReusedKeyAtAnyAttempt(String baseUri) {
		HttpHeaders headers = new HttpHeaders();
		headers.set("Content-Type", "application/problem+json;charset=UTF-8");
		RestClientResponseException reused = response(422, headers,
				"{\"type\":\"" + baseUri + "key-reused\",\"status\":422}");
		assertThat(CallFailure.of(reused, this.run, true)).isEqualTo(CallFailure.KEY_REUSED);
		assertThat(CallFailure.of(reused, this.run, false)).isEqualTo(CallFailure.KEY_REUSED);
	}

	@Test
	void findsTheResponseAmongTheCauses() {
		Throwable wrapped = new IllegalStateException(new IOException(response(404, new HttpHeaders(), "")));
		assertThat(CallFailure.of(wrapped, this.run, true)).isEqualTo(CallFailure.REFUSED);
	}

	@Test
	void endsWithCausesThatAreACircle() {
		Exception one = new Exception();
		Exception other = new Exception(one);
		one.initCause(other);
		assertThat(CallFailure.of(one, this.run, true)).isEqualTo(CallFailure.UNKNOWN);
	}

	private DerivedKey call() {
		return this.run.derive("POST http://gateway/charges", Samples.fingerprint("one"));
	}

	private CallFailure classify(int status, boolean replayed, boolean firstAttempt) {
		HttpHeaders headers = new HttpHeaders();
		if (replayed) {
			headers.set("Idempotent-Replayed", "true");
		}
		return CallFailure.of(response(status, headers, ""), this.run, firstAttempt);
	}

	private static RestClientResponseException response(int status, HttpHeaders headers, String body) {
		return new RestClientResponseException("refused", HttpStatusCode.valueOf(status), "", headers,
				body.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
	}

}
