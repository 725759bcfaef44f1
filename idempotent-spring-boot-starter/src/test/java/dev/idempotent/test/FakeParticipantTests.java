package dev.idempotent.test;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyReceipt;
import dev.idempotent.test.FakeParticipant.Fault;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class FakeParticipantTests {

	private final HttpClient client = HttpClient.newBuilder().version(Version.HTTP_1_1).build();

	private final FakeParticipant participant = new FakeParticipant();

	@AfterEach
	void close() {
		this.participant.close();
	}

	@Test
	void doesNothingTwiceUnderOneKey() throws Exception {
		for (int i = 0; i < 2; i++) {
			HttpResponse<String> answer = post("/holds", "a", null, "{}");
			assertThat(answer.statusCode()).isEqualTo(200);
			assertThat(answer.body()).isEqualTo("{}");
			assertThat(header(answer, IdempotencyReceipt.HEADER)).isEqualTo(IdempotencyReceipt.of("a"));
			assertThat(header(answer, "Idempotent-Replayed")).isEqualTo((i > 0) ? "true" : "");
		}
		assertThat(post("/holds", "a", null, "{\"other\":1}").statusCode()).isEqualTo(422);
		post("/holds", "b", null, "{}");
		assertThat(this.participant.effects()).containsExactly("/holds", "/holds");
		assertThat(this.participant.requests()).hasSize(4);
	}

	@Test
	void doesEachRequestWithoutAKey() throws Exception {
		post("/holds", null, null, "{}");
		post("/holds", null, null, "{}");
		assertThat(this.participant.effects()).containsExactly("/holds", "/holds");
		assertThat(this.participant.requestsWithoutKey()).isEqualTo(2);
		this.participant.reset();
		assertThat(this.participant.effects()).isEmpty();
		assertThat(this.participant.requestsWithoutKey()).isZero();
	}

	@Test
	void answersAsTheTestSays() throws Exception {
		this.participant.answer("/charges", 201, "{\"id\":\"ch_1\"}");
		this.participant.answer("/refunds", 409, "");
		assertThat(post("/charges", "a", null, "{}").body()).isEqualTo("{\"id\":\"ch_1\"}");
		HttpResponse<String> refused = post("/refunds", "b", null, "{}");
		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(header(refused, IdempotencyReceipt.HEADER)).isEqualTo(IdempotencyReceipt.of("b"));
		assertThat(this.participant.effects()).containsExactly("/charges");
		assertThatIllegalArgumentException().isThrownBy(() -> this.participant.answer("/charges", 99, ""));
	}

	/**
	 * As a participant with the starter does.
	 */
	@ParameterizedTest
	@CsvSource({ "true, unknown, 200, 2", "true, done, 200, 2", "false, unknown, 204, 0", "false, done, 422, 0" })
	void cancelsWhatWasDone(boolean done, String outcome, int status, int effects) throws Exception {
		if (done) {
			post("/holds", "a", null, "{}");
		}
		assertThat(post("/releases", "b", "a; outcome=" + outcome, "{}").statusCode()).isEqualTo(status);
		assertThat(post("/releases", "b", "a; outcome=" + outcome, "").statusCode()).isEqualTo(status);
		assertThat(post("/holds", "a", null, "{}").statusCode()).isEqualTo(done ? 200 : 410);
		assertThat(this.participant.effects()).hasSize(effects);
	}

	@Test
	void cancelsNothingThatWasRefused() throws Exception {
		this.participant.answer("/holds", 409, "");
		post("/holds", "a", null, "{}");
		assertThat(post("/releases", "b", "a", "{}").statusCode()).isEqualTo(204);
		assertThat(this.participant.effects()).isEmpty();
	}

	@Test
	void givesNoReceiptsAndMarksNoReplaysIfItIsAPaymentProvider() throws Exception {
		try (FakeParticipant provider = FakeParticipant.withoutReceipts()) {
			for (int i = 0; i < 2; i++) {
				HttpResponse<String> answer = post(provider, "/charges", "a", null, "{}");
				assertThat(header(answer, IdempotencyReceipt.HEADER)).isEmpty();
				assertThat(header(answer, "Idempotent-Replayed")).isEmpty();
			}
			assertThat(provider.effects()).containsExactly("/charges");
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "LOST_ANSWER", "CUT_ANSWER", "DROPPED" })
	void givesNoWholeAnswer(Fault fault) throws Exception {
		this.participant.fail("/holds", fault);
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> post("/holds", "a", null, "{}"));
		assertThat(this.participant.effects()).hasSize((fault != Fault.DROPPED) ? 1 : 0);
		assertThat(post("/holds", "a", null, "{}").statusCode()).isEqualTo(200);
		assertThat(this.participant.effects()).containsExactly("/holds");
	}

	@ParameterizedTest
	@CsvSource({ "GATEWAY_TIMEOUT, 504, 1", "EMPTIED_ANSWER, 200, 1", "BAD_GATEWAY, 502, 0", "UNAVAILABLE, 503, 0",
			"REDIRECT, 302, 0", "EMPTY_200, 200, 0", "PAGE_200, 200, 0", "PAGE_403, 403, 0", "PAGE_404, 404, 0",
			"TWICE, 200, 1" })
	void answersForTheService(Fault fault, int status, int effects) throws Exception {
		this.participant.fail("/holds", fault);
		HttpResponse<String> answer = post("/holds", "a", null, "{}");
		assertThat(answer.statusCode()).isEqualTo(status);
		assertThat(header(answer, IdempotencyReceipt.HEADER).isEmpty()).isEqualTo(fault != Fault.TWICE);
		assertThat(this.participant.effects()).hasSize(effects);
	}

	@Test
	void carriesOutLateWhatHasFailed() throws Exception {
		this.participant.failAlways("/holds", Fault.LATE);
		assertThat(post("/holds", "a", null, "{}").statusCode()).isEqualTo(504);
		assertThat(this.participant.effects()).isEmpty();
		this.participant.deliverLate();
		this.participant.deliverLate();
		assertThat(this.participant.effects()).containsExactly("/holds");
	}

	@Test
	void hangs() {
		this.participant.fail("/holds", Fault.HANG);
		assertThatExceptionOfType(HttpTimeoutException.class).isThrownBy(() -> post("/holds", "a", null, "{}"));
		assertThat(this.participant.requests()).containsExactly("/holds");
	}

	private HttpResponse<String> post(String path, @Nullable String key, @Nullable String cancels, String body)
			throws IOException, InterruptedException {
		return post(this.participant, path, key, cancels, body);
	}

	private HttpResponse<String> post(FakeParticipant to, String path, @Nullable String key, @Nullable String cancels,
			String body) throws IOException, InterruptedException {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(to.url() + path))
			.timeout(Duration.ofSeconds(2))
			.POST(BodyPublishers.ofString(body));
		if (key != null) {
			request.header("Idempotency-Key", key);
		}
		if (cancels != null) {
			request.header("Idempotency-Cancels", cancels);
		}
		return this.client.send(request.build(), BodyHandlers.ofString());
	}

	private static String header(HttpResponse<?> answer, String name) {
		return String.join(", ", answer.headers().allValues(name));
	}

}
