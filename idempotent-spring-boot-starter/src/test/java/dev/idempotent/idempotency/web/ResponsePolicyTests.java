package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.CommitOn;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.web.CapturedResponse.Header;
import dev.idempotent.idempotency.web.CapturedResponse.Redirect;
import dev.idempotent.idempotency.web.CapturedResponse.SentError;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpHeaders;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ResponsePolicy}.
 */
@ExtendWith(OutputCaptureExtension.class)
class ResponsePolicyTests {

	private static final int LONGEST = 100;

	private static final byte[] BODY = "{\"iban\":\"DE02\"}".getBytes(StandardCharsets.UTF_8);

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	@Test
	void keepsTheWholeResponseByDefault() {
		CapturedResponse response = response(201, null, null);
		StoredResponse stored = policy().toStore(this.request, response);
		assertThat(stored).isEqualTo(response.encode());
	}

	@Test
	void keepsTheWholeResponseOfARedactorThatChangesNothing() {
		CapturedResponse response = response(201, null, null);
		StoredResponse stored = policy((request, replayable) -> replayable).toStore(this.request, response);
		assertThat(stored).isEqualTo(response.encode());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			x-order | 201 | Content-Type, X-Order
			X-Other | 201 | Content-Type
			X-Order | 303 | Content-Type, Location, X-Order
			Content-Type | 201 | Content-Type
			""")
	void keepsListedHeadersAndThoseOfTheContentAndTheRedirect(String listed, int status, String kept) {
		ResponsePolicy policy = policy(List.of(listed), List.of());
		assertThat(names(policy.toStore(this.request, response(status, null, null)))).isEqualTo(namesIn(kept));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			x-order | 201 | Content-Type, Location, X-Trace
			LOCATION | 201 | Content-Type, X-Order, X-Trace
			Location | 303 | Content-Type, Location, X-Order, X-Trace
			""")
	void keepsNoExcludedHeader(String excluded, int status, String kept) {
		ResponsePolicy policy = policy(List.of(), List.of(excluded));
		StoredResponse stored = policy.toStore(this.request, response(status, null, null));
		assertThat(names(stored)).isEqualTo(namesIn(kept));
		assertThat(new String(stored.bytes(), StandardCharsets.UTF_8))
			.doesNotContain(excluded.equals("x-order") ? "order-17" : "X-None");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					X-A        | X-B          | idempotent.web.stored-headers and idempotent.web.excluded-headers are both set.
					Set-Cookie |              | idempotent.web.stored-headers has 'set-cookie', which is never stored.
					Access-Control-Allow-Origin | | idempotent.web.stored-headers has 'access-control-allow-origin', which is never stored.
					X A        |              | idempotent.web.stored-headers has a name that is not valid.
					''         |              | idempotent.web.stored-headers has a name that is not valid.
					           | content-type | idempotent.web.excluded-headers has Content-Type, which is always stored.
					           | X:           | idempotent.web.excluded-headers has a name that is not valid.
					""")
	void stopsTheStartWithHeadersThatHaveNoEffect(@Nullable String stored, @Nullable String excluded, String message) {
		List<String> storedHeaders = (stored != null) ? List.of(stored) : List.of();
		List<String> excludedHeaders = (excluded != null) ? List.of(excluded) : List.of();
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> policy(storedHeaders, excludedHeaders))
			.withMessage(message);
	}

	@Test
	void redactsInOrder() {
		List<String> seen = new ArrayList<>();
		ResponsePolicy policy = policy((request, replayable) -> {
			seen.add(new String(replayable.body(), StandardCharsets.UTF_8));
			replayable.headers().set("X-Order", "redacted");
			replayable.headers().remove("X-Trace");
			replayable.headers().set("content-type", "text/plain");
			replayable.headers().add("Set-Cookie", "a=b");
			return replayable.withBody("one".getBytes(StandardCharsets.UTF_8));
		}, (request, replayable) -> {
			seen.add(new String(replayable.body(), StandardCharsets.UTF_8));
			return replayable.withBody("two".getBytes(StandardCharsets.UTF_8));
		});
		CapturedResponse stored = decoded(policy.toStore(this.request, response(201, null, null)));
		assertThat(seen).containsExactly("{\"iban\":\"DE02\"}", "one");
		assertThat(stored.body()).asString().isEqualTo("two");
		assertThat(stored.headers()).containsExactlyInAnyOrder(new Header("Content-Type", "text/plain", true),
				new Header("Location", "/orders/17", true), new Header("X-Order", "redacted", false));
	}

	@Test
	void doesNotChangeTheResponseThatIsRedactedInPlace() {
		CapturedResponse response = response(201, null, null);
		StoredResponse stored = policy((request, replayable) -> {
			replayable.body()[0] = '!';
			return replayable;
		}).toStore(this.request, response);
		assertThat(response.body()).isEqualTo(BODY).startsWith('{');
		assertThat(decoded(stored).body()).startsWith('!');
	}

	@Test
	void redactsTheLocationOfARedirect() {
		CapturedResponse redirect = response(302, new Redirect("/orders/17?token=s3cret", 302, true), null);
		StoredResponse stored = policy((request, replayable) -> {
			assertThat(replayable.headers().get("Location")).containsExactly("/orders/17?token=s3cret");
			HttpHeaders headers = new HttpHeaders();
			headers.set("location", "/orders");
			return replayable.withHeaders(headers);
		}).toStore(this.request, redirect);
		assertThat(decoded(stored).redirect()).isEqualTo(new Redirect("/orders", 302, true));
		assertThat(decoded(stored).headers()).isEmpty();
	}

	@Test
	void redactsTheMessageOfAnError() {
		CapturedResponse error = response(404, null, new SentError(404, "no order DE02"));
		StoredResponse stored = policy((request, replayable) -> {
			assertThat(replayable.errorMessage()).isEqualTo("no order DE02");
			return new ReplayableResponse(404, replayable.headers(), replayable.body(), null);
		}).toStore(this.request, error);
		assertThat(decoded(stored).error()).isEqualTo(new SentError(404, null));
	}

	@Test
	void keepsNothingThatARedactorRefuses() {
		assertThat(policy((request, replayable) -> null, (request, replayable) -> {
			throw new AssertionError("called after a refusal");
		}).toStore(this.request, response(201, null, null)).isKept()).isFalse();
	}

	@Test
	void keepsNothingIfARedactorFailsAndLogsNothingOfTheResponse(CapturedOutput output) {
		assertThat(policy((request, replayable) -> {
			throw new IllegalStateException(new String(replayable.body(), StandardCharsets.UTF_8));
		}).toStore(this.request, response(201, null, null)).isKept()).isFalse();
		assertThat(output).contains("failed with java.lang.IllegalStateException, so the response is not kept")
			.doesNotContain("iban");
	}

	@Test
	void keepsNothingAfterAnError() {
		assertThat(policy((request, replayable) -> {
			throw new StackOverflowError();
		}).toStore(this.request, response(201, null, null)).isKept()).isFalse();
	}

	@Test
	void keepsNothingWithAnotherStatus() {
		assertThat(policy(
				(request, replayable) -> new ReplayableResponse(200, replayable.headers(), replayable.body(), null))
			.toStore(this.request, response(201, null, null))
			.isKept()).isFalse();
	}

	@Test
	void keepsNothingThatIsTooLongBeforeOrAfterItsRedaction() {
		assertThat(policy((request, replayable) -> replayable.withBody(new byte[LONGEST + 1]))
			.toStore(this.request, response(201, null, null))
			.isKept()).isFalse();
		CapturedResponse tooLong = new CapturedResponse(200, List.of(), new byte[LONGEST + 1], null, null);
		assertThat(policy((request, replayable) -> replayable.withBody(new byte[0])).toStore(this.request, tooLong)
			.isKept()).isFalse();
	}

	/**
	 * Under {@code Guarantee.TRANSACTION}, equal stored responses mean the same run.
	 */
	@Test
	void tellsReducedResponsesOfTwoRunsApart() {
		ResponsePolicy redacting = policy((request, replayable) -> replayable.withBody(new byte[0]));
		assertThat(redacting.toStore(this.request, response(201, null, null)))
			.isNotEqualTo(redacting.toStore(this.request, response(201, null, null)));
		ResponsePolicy excluding = policy(List.of(), List.of("X-Order"));
		assertThat(excluding.toStore(this.request, response(201, null, null)))
			.isNotEqualTo(excluding.toStore(this.request, response(201, null, null)));
	}

	private static ResponsePolicy policy(ResponseRedactor... redactors) {
		return policy(List.of(), List.of(), redactors);
	}

	private static ResponsePolicy policy(List<String> storedHeaders, List<String> excludedHeaders,
			ResponseRedactor... redactors) {
		return new ResponsePolicy(new IdempotencyWebSettings("test", "Idempotency-Key", List.of(), 1, LONGEST, LONGEST,
				List.of("200-399"), CommitOn.RETURN, storedHeaders, excludedHeaders, List.of(redactors),
				OnError.RELEASE, Duration.ZERO, "urn:problem-type:idempotency:", null));
	}

	private static CapturedResponse response(int status, @Nullable Redirect redirect, @Nullable SentError error) {
		List<Header> headers = new ArrayList<>();
		headers.add(new Header("Content-Type", "application/json", true));
		if (redirect == null) {
			headers.add(new Header("Location", "/orders/17", true));
		}
		headers.add(new Header("X-Order", "order-17", false));
		headers.add(new Header("X-Trace", "t", false));
		return new CapturedResponse(status, headers, BODY.clone(), redirect, error);
	}

	private static CapturedResponse decoded(StoredResponse stored) {
		return Objects.requireNonNull(CapturedResponse.decode(stored));
	}

	private static Set<String> names(StoredResponse stored) {
		Set<String> names = new TreeSet<>();
		decoded(stored).headers().forEach((header) -> names.add(header.name()));
		return names;
	}

	private static Set<String> namesIn(String list) {
		return new TreeSet<>(List.of(list.split(", ")));
	}

}
