package dev.idempotent.token;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.engine.KeyAdministration;
import dev.idempotent.idempotency.engine.KeyAdministration.FoundKey;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the forms of an application with one-time tokens are answered.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractOneTimeTokensTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private WebApplication application;

	@SuppressWarnings("NullAway.Init")
	private OrderForms forms;

	@SuppressWarnings("NullAway.Init")
	private ManualClock clock;

	/**
	 * The properties of the application, as {@code name=value}.
	 */
	abstract List<String> properties();

	@BeforeAll
	void start() {
		this.application = WebApplication.start(TokenApplication.class, redis, properties().toArray(String[]::new));
		this.forms = this.application.bean(OrderForms.class);
		this.clock = this.application.bean(ManualClock.class);
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	@BeforeEach
	void reset() {
		this.forms.reset();
	}

	@Test
	void runsAFormOnceAndReplaysItsRedirect() {
		Submission form = form();
		HttpResponse<byte[]> first = form.send();
		assertThat(first.statusCode()).isEqualTo(302);
		assertReplay(first, form.send());
		assertThat(this.forms.runs()).isOne();
	}

	@Test
	void runsOneOf200AtOnce() {
		String token = issue();
		List<CompletableFuture<HttpResponse<byte[]>>> sent = Stream
			.generate(() -> this.application.postAsync("/orders?item=book", "{}", "Idempotency-Key", token))
			.limit(200)
			.toList();
		assertThat(sent).extracting((response) -> response.join().statusCode())
			.contains(302)
			.allSatisfy((status) -> assertThat(status).isIn(302, 409));
		assertThat(this.forms.runs()).isOne();
	}

	@Test
	void replaysAResponseThatWasLostAlsoAfterTheExpiry() {
		Submission form = form();
		HttpResponse<byte[]> lost = form.send();
		assertReplay(lost, form.send());
		this.clock.advance(Duration.ofHours(3));
		assertReplay(lost, form.send());
		assertThat(this.forms.runs()).isOne();
	}

	@Test
	void runsAgainAfterAFailure() {
		Submission form = form();
		this.forms.fail(true);
		assertThat(form.send().statusCode()).isEqualTo(503);
		this.forms.fail(false);
		assertThat(form.send().statusCode()).isEqualTo(302);
		assertThat(this.forms.runs()).isEqualTo(2);
	}

	@Test
	void runsOnceForEachOfTwoTabs() {
		Submission one = form();
		Submission other = form();
		assertThat(one.send().headers().firstValue("Location"))
			.isNotEqualTo(other.send().headers().firstValue("Location"));
		assertThat(this.forms.runs()).isEqualTo(2);
	}

	@Test
	void refusesOtherContent() {
		Submission form = form();
		form.send();
		HttpResponse<byte[]> other = form.with(form.form().replace("book", "pen")).send();
		assertProblem(other, "key-reused");
		assertThat(text(other)).contains("Nothing was done for this request")
			.contains("the first one with this token had different content, and it counts")
			.contains("send the first request again unchanged, or look it up")
			.contains("Load the page again only for what you want as a second operation");
	}

	@Test
	void letsADuplicateComeAgainOrWaitWhileItRuns() throws Exception {
		Gate gate = this.forms.closeGate();
		String token = issue();
		CompletableFuture<HttpResponse<byte[]>> first = post("/orders/waiting", token);
		gate.awaitEntry();
		CompletableFuture<HttpResponse<byte[]>> waiting = post("/orders/waiting", token);
		gate.open();
		assertThat(first.join().statusCode()).isEqualTo(200);
		assertThat(text(waiting.join())).isEqualTo(text(first.join()));

		Gate other = this.forms.closeGate();
		String refused = issue();
		CompletableFuture<HttpResponse<byte[]>> running = post("/orders?item=book", refused);
		other.awaitEntry();
		assertProblem(post("/orders?item=book", refused).join(), "in-progress");
		other.open();
		assertThat(running.join().statusCode()).isEqualTo(302);
	}

	@Test
	void refusesATokenThatExpiresBeforeItsFirstUseAndLeavesItUnclaimed() {
		Submission form = form();
		this.clock.advance(TokenApplication.VALIDITY.plusSeconds(61));
		assertProblem(form.send(), "token-expired");
		assertProblem(form.send(), "token-expired");
		assertThat(this.forms.runs()).isZero();
	}

	@Test
	void toleratesClocksThatDifferByAMinute() {
		Submission form = form();
		this.clock.advance(TokenApplication.VALIDITY.plusSeconds(59));
		assertThat(form.send().statusCode()).isEqualTo(302);
	}

	@ParameterizedTest
	@ValueSource(strings = { "item=book", "item=book&_idempotency=" })
	void refusesAFormWithoutAToken(String fields) {
		assertProblem(form().with(fields).send(), fields.equals("item=book") ? "key-missing" : "key-malformed");
	}

	@Test
	void refusesATokenInTheUrl() {
		String token = issue();
		Submission form = form().with("item=book");
		assertProblem(form.to("/orders?_idempotency=" + token).send(), "key-malformed");
		assertProblem(form.to("/orders?%5Fidempotency=" + token).send(), "key-malformed");
		assertProblem(form.to("/orders?_idempotency=" + token).header("Idempotency-Key", token).send(),
				"key-malformed");
		assertProblem(post("/orders?item=book&_idempotency=" + token, token).join(), "key-malformed");
		assertThat(this.forms.runs()).isZero();
	}

	@Test
	void refusesTwoDifferentTokensAndTakesOneThatComesTwice() {
		String token = issue();
		Submission form = Submission.of(this.application, token);
		assertProblem(form.header("Idempotency-Key", issue()).send(), "key-malformed");
		assertProblem(form.with(form.form() + "&_idempotency=" + issue()).send(), "key-malformed");
		HttpResponse<byte[]> both = form.header("Idempotency-Key", '"' + token + '"').send();
		assertThat(both.statusCode()).isEqualTo(302);
		assertReplay(both, form.with("item=book").header("Idempotency-Key", token).send());
		assertReplay(both, form.with(form.form() + "&_idempotency=" + token).send());
	}

	@Test
	void takesATokenOfAMultipartForm() {
		String token = issue();
		HttpResponse<byte[]> first = upload(token, "one", "receipt");
		assertThat(text(first)).isEqualTo("run 1 with receipt.png");
		assertReplay(first, upload(token, "two", "receipt"));
		assertProblem(upload(token, "one", "other"), "key-reused");
		assertProblem(upload("abc", "one", "receipt"), "key-malformed");
	}

	@Test
	void refusesATokenOfAnotherCaller() {
		Submission form = Submission.of(this.application, issue("ada"));
		assertProblem(form.by("bob").send(), "token-refused");
		assertProblem(form.send(), "token-refused");
		HttpResponse<byte[]> first = form.by("ada").send();
		assertThat(first.statusCode()).isEqualTo(302);
		assertProblem(form.by("bob").send(), "token-refused");
		assertReplay(first, form.by("ada").send());
	}

	@Test
	void takesAnAnonymousTokenAfterALogin() {
		Submission form = form();
		HttpResponse<byte[]> first = form.by("ada").send();
		assertThat(first.statusCode()).isEqualTo(302);
		assertReplay(first, form.send());
	}

	@Test
	void refusesATokenOfAnotherPurposeOrApplication() {
		assertProblem(form().to("/refunds").send(), "token-refused");
		String foreign = TokenApplication.tokens("other", this.clock).issue("place-order", null);
		assertProblem(Submission.of(this.application, foreign).send(), "token-refused");
		assertThat(this.forms.runs()).isZero();
	}

	@Test
	void keepsAResponseLongerThanItsTokenIsValid() {
		String token = this.application.bean(OneTimeTokens.class).issue("refund-order", null);
		assertThat(Submission.of(this.application, token).to("/refunds").send().statusCode()).isEqualTo(302);
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.TOKEN, "test", "", "refund-order",
				Objects.requireNonNull(OneTimeTokens.serialOf(token)));
		FoundKey found = Objects.requireNonNull(this.application.bean(KeyAdministration.class).find(key));
		assertThat(found.deciding().remaining()).isGreaterThan(TokenApplication.VALIDITY.plusMinutes(2));
	}

	@Test
	void neverRepeatsATokenInAResponse() {
		String token = issue("ada");
		Submission form = Submission.of(this.application, token);
		assertThat(text(form.send())).doesNotContain(token);
		assertThat(text(form.with("item=book&_idempotency=" + token + "x").send())).doesNotContain(token);
	}

	private Submission form() {
		return Submission.of(this.application, issue());
	}

	private String issue() {
		return text(this.application.send(this.application.request("/orders/new").GET().build()));
	}

	private String issue(String user) {
		return text(
				this.application.send(this.application.request("/orders/new").header("X-User", user).GET().build()));
	}

	private CompletableFuture<HttpResponse<byte[]>> post(String path, String token) {
		return this.application.postAsync(path, "{}", "Idempotency-Key", token);
	}

	private HttpResponse<byte[]> upload(String token, String boundary, String content) {
		String body = """
				--%1$s\r
				Content-Disposition: form-data; name="_idempotency"\r
				\r
				%2$s\r
				--%1$s\r
				Content-Disposition: form-data; name="file"; filename="receipt.png"\r
				Content-Type: image/png\r
				\r
				%3$s\r
				--%1$s--\r
				""".formatted(boundary, token, content);
		return this.application.send(this.application.request("/receipts")
			.header("Content-Type", "multipart/form-data; boundary=" + boundary)
			.POST(BodyPublishers.ofString(body))
			.build());
	}

	private static void assertReplay(HttpResponse<byte[]> first, HttpResponse<byte[]> retry) {
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.statusCode()).isEqualTo(first.statusCode());
		assertThat(retry.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"));
		assertThat(retry.body()).isEqualTo(first.body());
	}

	/**
	 * A form that a browser sends, as often as it is told to.
	 *
	 * @param application the server
	 * @param path where it is sent to
	 * @param form the fields
	 * @param headers names and values in turn
	 */
	record Submission(WebApplication application, String path, String form, List<String> headers) {

		static Submission of(WebApplication application, String token) {
			return new Submission(application, "/orders", "item=book&_idempotency=" + token, List.of());
		}

		Submission to(String other) {
			return new Submission(this.application, other, this.form, this.headers);
		}

		Submission with(String fields) {
			return new Submission(this.application, this.path, fields, this.headers);
		}

		Submission by(String user) {
			return header("X-User", user);
		}

		Submission header(String name, String value) {
			List<String> all = new ArrayList<>(this.headers);
			all.addAll(List.of(name, value));
			return new Submission(this.application, this.path, this.form, all);
		}

		HttpResponse<byte[]> send() {
			HttpRequest.Builder request = this.application.request(this.path)
				.header("Content-Type", "application/x-www-form-urlencoded")
				.POST(BodyPublishers.ofString(this.form));
			return this.application.send(this.headers.isEmpty() ? request.build()
					: request.headers(this.headers.toArray(String[]::new)).build());
		}

	}

	/**
	 * Forms with one-time tokens, by a clock that tests move. The header {@code X-User}
	 * identifies the caller.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(OrderForms.class)
	static class TokenApplication {

		static final Duration VALIDITY = Duration.ofHours(2);

		@Bean
		ManualClock manualClock() {
			return new ManualClock();
		}

		@Bean
		OneTimeTokens tokens(ManualClock clock) {
			return tokens("test", clock);
		}

		static OneTimeTokens tokens(String namespace, ManualClock clock) {
			return new OneTimeTokens(namespace, List.of(new TokenSecret("k1", new byte[32])), VALIDITY,
					Principal::getName, clock);
		}

		@Bean
		Filter callers() {
			return (request, response, chain) -> chain.doFilter(new WithCaller((HttpServletRequest) request), response);
		}

		private static final class WithCaller extends HttpServletRequestWrapper {

			WithCaller(HttpServletRequest request) {
				super(request);
			}

			@Override
			public @Nullable Principal getUserPrincipal() {
				String user = getHeader("X-User");
				return (user != null) ? () -> user : null;
			}

		}

	}

}
