package dev.idempotent.token;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.security.web.csrf.CsrfTokenRepository;
import org.springframework.security.web.csrf.DefaultCsrfToken;
import org.springframework.security.web.csrf.HttpSessionCsrfTokenRepository;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestAttribute;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Forms to which Spring Security adds a parameter that it masks anew in each rendering.
 */
class RenderedFormsIntegrationTests {

	private static final String LONG = "0123456789abcdef0123456789abcdef";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, WebApplication.WITH_SECURITY,
				"idempotent.namespace=rendered", "idempotent.token.secrets=k1:" + "A".repeat(43) + "="))
		.resetting(Purchases.class, Purchases::reset);

	private final String key = UUID.randomUUID().toString();

	@Test
	void areReplayedByTheirTokenHoweverOftenTheyAreRendered() {
		Page first = Page.load(application);
		Page again = first.reload(application);
		assertThat(again.csrf()).isNotEqualTo(first.csrf());
		HttpResponse<byte[]> bought = submit(first, "/tokens", first.form("5") + "&_idempotency=" + first.token());
		assertThat(text(bought)).isEqualTo("run 1 for 5");
		assertReplay(submit(again, "/tokens", again.form("5") + "&_idempotency=" + first.token()), "run 1 for 5");
		assertProblem(submit(again, "/tokens", again.form("6") + "&_idempotency=" + first.token()), "key-reused");
		assertThat(application.bean(Purchases.class).runs()).isOne();
	}

	@Test
	void areReplayedByTheirKeyHoweverOftenTheyAreRendered() {
		Page first = Page.load(application);
		Page again = first.reload(application);
		assertThat(text(submit(first, "/keys", first.form("5") + "&_idempotency=" + first.token())))
			.isEqualTo("run 1 for 5");
		assertReplay(submit(again, "/keys", again.form("5") + "&_idempotency=" + again.token()), "run 1 for 5");
		assertProblem(submit(again, "/keys", again.form("6")), "key-reused");
		assertThat(application.bean(Purchases.class).runs()).isOne();
	}

	@Test
	void areReplayedIfTheirParameterIsInTheUrl() {
		Page first = Page.load(application);
		Page again = first.reload(application);
		String path = "/keys?" + first.parameter() + "=";
		assertThat(text(submit(first, path + first.csrf(), "amount=5"))).isEqualTo("run 1 for 5");
		assertReplay(submit(again, path + again.csrf(), "amount=5"), "run 1 for 5");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{}" })
	void areReplayedIfTheirParameterIsInTheUrlOfARequestWithoutAForm(String body) {
		Page first = Page.load(application);
		Page again = first.reload(application);
		assertThat(again.csrf()).isNotEqualTo(first.csrf());
		String path = "/json?amount=5&" + first.parameter() + "=";
		String[] headers = { "Idempotency-Key", this.key, "Cookie", first.cookies() };
		assertThat(text(application.post(path + first.csrf(), body, headers))).isEqualTo("run 1 for json");
		assertReplay(application.post(path + again.csrf(), body, headers), "run 1 for json");
		assertProblem(application.post(path.replace('5', '6') + again.csrf(), body, headers), "key-reused");
	}

	@Test
	void areReplayedIfTheirParameterIsInTheUrlAndInTheForm() {
		Page first = Page.load(application);
		Page again = first.reload(application);
		String path = "/keys?" + first.parameter() + "=";
		assertThat(text(submit(first, path + first.csrf(), first.form("5")))).isEqualTo("run 1 for 5");
		assertReplay(submit(again, path + again.csrf(), again.form("5")), "run 1 for 5");
	}

	@Test
	void areReplayedIfTheApplicationHasShortTokensInItsSessions() {
		try (WebApplication other = WebApplication.start(Application.class, redis, WebApplication.WITH_SECURITY,
				"idempotent.namespace=short", "idempotent.token.secrets=k1:" + "A".repeat(43) + "=",
				"test.csrf-token=12345678")) {
			Page first = Page.load(other);
			Page again = first.reload(other);
			assertThat(first.csrf()).hasSizeLessThan(32).isNotEqualTo(again.csrf());
			assertThat(text(submit(other, first, "/keys", first.form("5")))).isEqualTo("run 1 for 5");
			assertReplay(submit(other, again, "/keys", again.form("5")), "run 1 for 5");
		}
	}

	@Test
	void areReplayedAsUploads() {
		Page first = Page.load(application);
		Page again = first.reload(application);
		assertThat(text(upload(first, "5"))).isEqualTo("run 1 for 5");
		assertReplay(upload(again, "5"), "run 1 for 5");
		assertProblem(upload(again, "6"), "key-reused");
		assertThat(application.bean(Purchases.class).runs()).isOne();
	}

	@Test
	void areRecognizedByTheNameThatTheApplicationHasChosen() {
		try (WebApplication other = WebApplication.start(Application.class, redis, WebApplication.WITH_SECURITY,
				"idempotent.namespace=guarded", "idempotent.token.secrets=k1:" + "A".repeat(43) + "=",
				"test.csrf-parameter=guard")) {
			Page first = Page.load(other);
			Page again = first.reload(other);
			assertThat(first.parameter()).isEqualTo("guard");
			assertThat(text(submit(other, first, "/keys", first.form("5")))).isEqualTo("run 1 for 5");
			assertReplay(submit(other, again, "/keys", again.form("5")), "run 1 for 5");
			assertProblem(submit(other, again, "/keys", again.form("5") + "&_csrf=" + LONG), "key-reused");
		}
	}

	@Test
	void doNotChangeWhatIsComparedOfJson() {
		Page page = Page.load(application);
		String[] headers = { "Idempotency-Key", this.key, "Cookie", page.cookies(), page.header(), page.csrf() };
		assertThat(application.post("/json", "{\"_csrf\":\"" + LONG + "1\"}", headers).statusCode()).isEqualTo(200);
		assertProblem(application.post("/json", "{\"_csrf\":\"" + LONG + "2\"}", headers), "key-reused");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "Cookie" })
	void createNoSessionForAClientThatHasNone(String header) {
		var request = application.request("/api/keys")
			.header("Content-Type", "application/x-www-form-urlencoded")
			.header("Idempotency-Key", this.key);
		HttpResponse<byte[]> response = application
			.send((header.isEmpty() ? request : request.header(header, "theme=dark"))
				.POST(BodyPublishers.ofString("amount=5&_csrf=" + (header.isEmpty() ? LONG : "none")))
				.build());
		assertThat(text(response)).isEqualTo("run 1 for 5");
		assertThat(response.headers().allValues("Set-Cookie")).isEmpty();
	}

	private HttpResponse<byte[]> submit(Page page, String path, String form) {
		return application.send(application.request(path)
			.header("Content-Type", "application/x-www-form-urlencoded")
			.header("Cookie", page.cookies())
			.headers(path.equals("/tokens") ? new String[] { "X-None", "1" }
					: new String[] { "Idempotency-Key", this.key })
			.POST(BodyPublishers.ofString(form))
			.build());
	}

	private HttpResponse<byte[]> submit(WebApplication other, Page page, String path, String form) {
		return other.send(other.request(path)
			.header("Content-Type", "application/x-www-form-urlencoded")
			.header("Cookie", page.cookies())
			.header("Idempotency-Key", this.key)
			.POST(BodyPublishers.ofString(form))
			.build());
	}

	private HttpResponse<byte[]> upload(Page page, String amount) {
		String body = """
				--b\r
				Content-Disposition: form-data; name="%s"\r
				\r
				%s\r
				--b\r
				Content-Disposition: form-data; name="amount"\r
				\r
				%s\r
				--b--\r
				""".formatted(page.parameter(), page.csrf(), amount);
		return application.send(application.request("/keys")
			.header("Content-Type", "multipart/form-data; boundary=b")
			.header("Cookie", page.cookies())
			.header("Idempotency-Key", this.key)
			.POST(BodyPublishers.ofString(body))
			.build());
	}

	private static void assertReplay(HttpResponse<byte[]> response, String text) {
		assertThat(text(response)).isEqualTo(text);
		assertThat(response.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	/**
	 * A page that a browser has loaded.
	 *
	 * @param cookies the cookies of the browser
	 * @param parameter the name of the CSRF parameter
	 * @param header the name of the CSRF header
	 * @param csrf its value in this rendering
	 * @param token the one-time token of this rendering
	 */
	private record Page(String cookies, String parameter, String header, String csrf, String token) {

		static Page load(RunningApplication application) {
			return of(application.send(application.request("/page").build()), "");
		}

		static Page load(WebApplication application) {
			return of(application.send(application.request("/page").build()), "");
		}

		private static Page of(HttpResponse<byte[]> response, String known) {
			String cookies = response.headers()
				.allValues("Set-Cookie")
				.stream()
				.map((cookie) -> cookie.split(";", 2)[0])
				.collect(Collectors.joining("; "));
			List<String> words = List.of(text(response).split(" "));
			return new Page(cookies.isEmpty() ? known : cookies, words.get(0), words.get(1), words.get(2),
					words.get(3));
		}

		Page reload(RunningApplication application) {
			return of(application.send(application.request("/page").header("Cookie", this.cookies).build()),
					this.cookies);
		}

		Page reload(WebApplication application) {
			return of(application.send(application.request("/page").header("Cookie", this.cookies).build()),
					this.cookies);
		}

		String form(String amount) {
			return "amount=" + amount + "&" + this.parameter + "=" + this.csrf;
		}

	}

	@RestController
	static class Purchases {

		private final OneTimeTokens tokens;

		private final AtomicInteger runs = new AtomicInteger();

		Purchases(OneTimeTokens tokens) {
			this.tokens = tokens;
		}

		int runs() {
			return this.runs.get();
		}

		void reset() {
			this.runs.set(0);
		}

		@GetMapping("/page")
		String page(@RequestAttribute("_csrf") CsrfToken csrf) {
			return String.join(" ", csrf.getParameterName(), csrf.getHeaderName(), csrf.getToken(),
					this.tokens.issue("buy", null));
		}

		@PostMapping("/tokens")
		@Idempotent(from = KeySource.TOKEN, name = "buy")
		String byToken(@RequestParam String amount) {
			return run(amount);
		}

		@PostMapping({ "/keys", "/api/keys" })
		@Idempotent
		String byKey(@RequestParam String amount) {
			return run(amount);
		}

		@PostMapping("/json")
		@Idempotent
		String json() {
			return run("json");
		}

		private String run(String amount) {
			return "run " + this.runs.incrementAndGet() + " for " + amount;
		}

	}

	private static final class ShortTokens implements CsrfTokenRepository {

		private final CsrfTokenRepository sessions = new HttpSessionCsrfTokenRepository();

		private final String token;

		ShortTokens(String token) {
			this.token = token;
		}

		@Override
		public CsrfToken generateToken(HttpServletRequest request) {
			return new DefaultCsrfToken("X-CSRF-TOKEN", "_csrf", this.token);
		}

		@Override
		public void saveToken(@Nullable CsrfToken csrf, HttpServletRequest request, HttpServletResponse response) {
			this.sessions.saveToken(csrf, request, response);
		}

		@Override
		public @Nullable CsrfToken loadToken(HttpServletRequest request) {
			return this.sessions.loadToken(request);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Purchases.class)
	static class Application {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http, Environment environment) {
			String parameter = environment.getProperty("test.csrf-parameter");
			String token = environment.getProperty("test.csrf-token");
			return http.csrf((csrf) -> {
				csrf.ignoringRequestMatchers("/api/**");
				if (parameter != null) {
					CookieCsrfTokenRepository cookies = new CookieCsrfTokenRepository();
					cookies.setParameterName(parameter);
					csrf.csrfTokenRepository(cookies);
				}
				if (token != null) {
					csrf.csrfTokenRepository(new ShortTokens(token));
				}
			}).authorizeHttpRequests((requests) -> requests.anyRequest().permitAll()).build();
		}

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("ada").password("{noop}secret").roles("USER").build());
		}

	}

}
