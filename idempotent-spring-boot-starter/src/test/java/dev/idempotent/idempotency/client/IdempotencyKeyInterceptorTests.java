package dev.idempotent.idempotency.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.client.RestClientKeys.ServiceKeys;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpMethod;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.MultipartBodyBuilder;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link IdempotencyKeyInterceptor} before a service that records what it is
 * sent.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyKeyInterceptorTests {

	private final Downstream downstream = new Downstream();

	private final IdempotencyKey key = Samples.key();

	private final RestClient client = clientFor("127.0.0.1");

	@BeforeEach
	void beginRun() {
		IdempotencyContext.bind(new IdempotencyContext(this.key, "token"));
	}

	@AfterEach
	void endRun() {
		IdempotencyContext.bind(null);
		this.downstream.close();
	}

	@Test
	void sendsAnotherKeyWithEachIntendedCall() {
		post("/charges", "one");
		post("/charges", "one");
		post("/charges", "two");
		post("/refunds", "one");
		this.client.put().uri(this.downstream.url() + "/charges").body("one").retrieve().toBodilessEntity();
		assertThat(this.downstream.keys()).hasSize(5).doesNotHaveDuplicates().allMatch((sent) -> sent.length() == 64);
	}

	@Test
	void derivesTheKeyFromTargetMethodAndPathBelowTheLocation() {
		post(clientFor("127.0.0.1/pay"), "/pay/charges?attempt=1#here", "one");
		post(clientFor("127.0.0.1"), "/charges?attempt=2", "one");
		IdempotencyContext expected = new IdempotencyContext(this.key, "another token");
		Fingerprint any = Samples.fingerprint("any");
		assertThat(this.downstream.keys()).containsExactly(expected.derive("pay", "POST /charges", any).key(),
				expected.derive("pay", "POST /charges", any).key());
	}

	@Test
	void doesNotSendTheKeyOfASkippedCallWithAnotherCall() {
		RestClient both = clientFor(Map.of("pay", List.of("127.0.0.1/pay"), "stock", List.of("127.0.0.1/stock")));
		post(both, "/pay/orders", "one");
		post(both, "/stock/orders", "one");
		post(both, "/stock/holds", "one");
		IdempotencyContext.bind(new IdempotencyContext(this.key, "another token"));
		post(both, "/stock/orders", "one");
		post(both, "/stock/holds", "one");
		List<String> keys = this.downstream.keys();
		assertThat(keys.subList(0, 3)).doesNotHaveDuplicates();
		assertThat(keys.subList(3, 5)).isEqualTo(keys.subList(1, 3));
	}

	@Test
	void takesACallToAnotherLocationOfTheTargetForARetry() {
		try (Downstream other = new Downstream()) {
			RestClient failing = clientFor(
					Map.of("pay", List.of(this.downstream.url() + "/a", other.url() + "/b", other.url())));
			for (IdempotencyContext run : List.of(new IdempotencyContext(this.key, "token"),
					IdempotencyContext.forSingleCall(Samples.key(), "token", null))) {
				IdempotencyContext.bind(run);
				this.downstream.willAnswer(503);
				other.willAnswer(Downstream.SILENCE, 200);
				assertThatExceptionOfType(RestClientException.class)
					.isThrownBy(() -> post(failing, "/a/charges?x=y", "one"));
				assertThatExceptionOfType(RestClientException.class)
					.isThrownBy(() -> send(failing, other.url() + "/b/charges?x=y", "one"));
				send(failing, other.url() + "/charges?x=y", "one");
				assertThat(run.calls()).isEqualTo(new Calls(1, 1, 3, 0, new Answer(200, false)));
			}
			assertThat(other.keys()).isEqualTo(Stream.of(0, 0, 1, 1).map(this.downstream.keys()::get).toList());
		}
	}

	@ParameterizedTest
	@CsvSource({ "true, true", "TRUE, true", "' true ', true", "?1, true", "false, false", "?0, false", "'', false",
			"1, false", "'true, false', false" })
	void believesAReplayThatIsMarkedAsOne(String value, boolean replayed) {
		this.downstream.marksReplays(value);
		post("/charges", "one");
		IdempotencyContext run = Objects.requireNonNull(IdempotencyContext.current());
		assertThat(run.calls().lastAnswer()).isEqualTo(new Answer(200, replayed));
	}

	@Test
	void sendsTheSameKeysInAnotherRunOfTheSameKey() {
		post("/charges", "one");
		post("/charges", "two");
		IdempotencyContext.bind(new IdempotencyContext(this.key, "another token"));
		post("/charges", "one");
		post("/charges", "two");
		List<String> keys = this.downstream.keys();
		assertThat(keys.subList(2, 4)).isEqualTo(keys.subList(0, 2));
	}

	@Test
	void sendsNoKeyOutsideARun() {
		IdempotencyContext.bind(null);
		post("/charges", "one");
		assertThat(this.downstream.keys()).containsExactly("none");
	}

	@Test
	void sendsNoKeyToOtherTargets() {
		post(clientFor("localhost"), "/charges", "one");
		post(clientFor("127.0.0.1:1"), "/charges", "one");
		post(clientFor("127.0.0.1/refunds"), "/charges", "one");
		post(clientFor(Map.of()), "/charges", "one");
		assertThat(this.downstream.keys()).containsExactly("none", "none", "none", "none");
	}

	@Test
	void keepsTheKeyOfARequestThatHasOne() {
		this.client.post()
			.uri(this.downstream.url() + "/charges")
			.header("idempotency-key", "mine")
			.retrieve()
			.toBodilessEntity();
		assertThat(this.downstream.keys()).containsExactly("mine");
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "HEAD", "OPTIONS" })
	void sendsNoKeyWithSafeMethods(String method) {
		send(method);
		assertThat(this.downstream.keys()).containsExactly("none");
	}

	@ParameterizedTest
	@ValueSource(strings = { "POST", "PUT", "PATCH", "DELETE", "SETTLE" })
	void sendsAKeyWithAllOtherMethods(String method) {
		send(method);
		assertThat(this.downstream.keys()).hasSize(1).doesNotContain("none");
	}

	@ParameterizedTest
	@ValueSource(ints = { 401, 403, 408, 409, 412, 425, 428, 429, 500, 502, 503, 504, 599, Downstream.SILENCE,
			Downstream.HALF_AN_ANSWER })
	void repeatsTheKeyOfACallWithoutAnAnswerThatWouldBeRepeated(int status) {
		this.downstream.willAnswer(status, status);
		assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> post("/charges", "one"));
		assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> post("/charges", "one"));
		post("/charges", "one");
		post("/charges", "one");
		List<String> keys = this.downstream.keys();
		assertThat(keys.subList(0, 3)).containsOnly(keys.get(0));
		assertThat(keys.get(3)).isNotEqualTo(keys.get(0));
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 201, 204, 302, 307, 304, 400, 402, 404, 422, 499 })
	void takesTheNextEqualCallForAnotherAfterAnAnswer(int status) {
		this.downstream.willAnswer(status);
		this.client.post().uri(this.downstream.url() + "/charges").exchange((request, response) -> "");
		post("/charges", "");
		assertThat(this.downstream.keys()).hasSize(2).doesNotHaveDuplicates();
	}

	@Test
	void takesACallWithAnotherBodyOrQueryForNoRetry() {
		this.downstream.willAnswer(503);
		assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> post("/charges?a=b", "one"));
		post("/charges?a=b", "two");
		post("/charges?a=c", "one");
		post("/charges?a=b", "one");
		List<String> keys = this.downstream.keys();
		assertThat(keys.subList(0, 3)).doesNotHaveDuplicates();
		assertThat(keys.get(3)).isEqualTo(keys.get(0));
	}

	@Test
	void recognizesAnUploadWithAnotherBoundary() {
		this.downstream.willAnswer(503);
		assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> upload("one"));
		upload("two");
		upload("one");
		List<String> keys = this.downstream.keys();
		assertThat(keys.get(1)).isNotEqualTo(keys.get(0));
		assertThat(keys.get(2)).isEqualTo(keys.get(0));
	}

	@Test
	void sendsTheKeyOfTheRunWithItsSingleCall() {
		IdempotencyContext run = IdempotencyContext.forSingleCall(this.key, "token", null);
		IdempotencyContext.bind(run);
		this.downstream.willAnswer(503, Downstream.SILENCE, Downstream.HALF_AN_ANSWER);
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> post("/holds", "one"));
		}
		this.client.get().uri(this.downstream.url() + "/holds").retrieve().toBodilessEntity();
		post("/holds", "one");
		String sent = this.key.digest();
		assertThat(this.downstream.keys()).containsExactly(sent, sent, sent, "none", sent);
		assertThat(this.downstream.cancels()).containsOnly("none");
		assertThat(run.calls()).isEqualTo(new Calls(2, 1, 5, 0, new Answer(200, false)));
	}

	@Test
	void doesNotSendASecondCallUnderTheKeyOfTheRun() {
		IdempotencyContext.bind(IdempotencyContext.forSingleCall(this.key, "token", null));
		post("/holds", "one");
		assertThatIllegalStateException().isThrownBy(() -> post("/holds", "two"));
		assertThat(this.downstream.keys()).hasSize(1);
	}

	@Test
	void sendsWhatASingleCallCancels() {
		String cancels = Samples.key().digest() + "; outcome=unknown";
		IdempotencyContext.bind(IdempotencyContext.forSingleCall(this.key, "token", cancels));
		post(clientFor("localhost"), "/cancels", "one");
		post("/cancels", "one");
		assertThat(this.downstream.keys()).containsExactly("none", this.key.digest());
		assertThat(this.downstream.cancels()).containsExactly("none", cancels);
	}

	@Test
	void warnsOnceOfACallWithoutAKeyWhileOneWithAKeyIsNotAnswered(CapturedOutput output) {
		try (Downstream unlisted = new Downstream()) {
			RestClient listed = clientFor("127.0.0.1:" + this.downstream.port());
			String warning = "A POST request to " + unlisted.url()
					+ ", which belongs to no target, is sent without a key";
			send(listed, unlisted.url() + "/alerts", "one");
			post(listed, "/charges", "one");
			send(listed, unlisted.url() + "/alerts", "two");
			assertThat(output).doesNotContain(warning);
			this.downstream.willAnswer(503);
			assertThatExceptionOfType(RestClientException.class).isThrownBy(() -> post(listed, "/charges", "two"));
			for (int i = 0; i < 2; i++) {
				send(listed, unlisted.url() + "/charges?secret=1", "two");
			}
			assertThat(output).containsOnlyOnce(warning).doesNotContain("secret");
			assertThat(unlisted.keys()).containsOnly("none").hasSize(4);
		}
	}

	@Test
	void warnsOfACallThatIsNotSent(CapturedOutput output) {
		IdempotencyContext.bind(IdempotencyContext.forSingleCall(this.key, "token", null, null));
		assertThatIllegalStateException().isThrownBy(() -> post(clientFor("localhost"), "/charges", "one"))
			.withMessageContaining("idempotent.client.repeatable");
		assertThat(this.downstream.keys()).isEmpty();
		assertThat(output).contains("A POST request to " + this.downstream.url(), "was not sent");
	}

	/**
	 * One {@link ServiceKeys} can be applied to the clients of several services.
	 */
	@Test
	void honoursKeysOnlyInTheClientThatSaysSo() {
		ServiceKeys keys = new RestClientKeys(new IdempotencyKeyInterceptor(PropagationTargets.of(Map.of())))
			.forService("payments");
		ClientHttpRequestInterceptor plain = interceptorOf(keys);
		assertThat(interceptorOf(keys.honouringKeys())).isNotSameAs(plain);
		assertThat(interceptorOf(keys)).isSameAs(plain);
	}

	private static ClientHttpRequestInterceptor interceptorOf(ServiceKeys keys) {
		List<ClientHttpRequestInterceptor> applied = new ArrayList<>();
		RestClient.builder().apply(keys).requestInterceptors(applied::addAll);
		return applied.get(0);
	}

	private void upload(String content) {
		MultipartBodyBuilder parts = new MultipartBodyBuilder();
		parts.part("file", content.getBytes(StandardCharsets.UTF_8)).filename("a.txt");
		this.client.post().uri(this.downstream.url() + "/files").body(parts.build()).retrieve().toBodilessEntity();
	}

	private void send(String method) {
		this.client.method(HttpMethod.valueOf(method))
			.uri(this.downstream.url() + "/charges")
			.exchange((request, response) -> "");
	}

	private void post(String path, String body) {
		post(this.client, path, body);
	}

	private void post(RestClient with, String path, String body) {
		send(with, this.downstream.url() + path, body);
	}

	private static void send(RestClient with, String url, String body) {
		with.post().uri(url).body(body).retrieve().body(String.class);
	}

	private static RestClient clientFor(String location) {
		return clientFor(Map.of("pay", List.of(location)));
	}

	private static RestClient clientFor(Map<String, List<String>> targets) {
		return RestClient.builder()
			.requestInterceptor(new IdempotencyKeyInterceptor(PropagationTargets.of(targets)))
			.build();
	}

}
