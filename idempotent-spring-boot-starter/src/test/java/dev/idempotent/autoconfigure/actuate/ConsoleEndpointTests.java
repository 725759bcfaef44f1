package dev.idempotent.autoconfigure.actuate;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.PlainPasswords;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the console: what it serves, in an application under a context path, who gets
 * it and what it may offer.
 */
class ConsoleEndpointTests {

	private static final Pattern DATA = Pattern
		.compile("<script type=\"application/json\" id=\"console\">(.*?)</script>", Pattern.DOTALL);

	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> start("management.endpoints.web.exposure.include=console,idempotency,health,metrics,info",
				"server.servlet.context-path=/shop", "spring.application.name=</script><!--<script>"));

	private static final String OPERATOR = SecuredEndpoints.basic("operator");

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ConsoleAutoConfiguration.class));

	@Test
	void servesAPageThatNoOtherPageCanFrameOrKeep() {
		HttpResponse<byte[]> response = get("/shop/actuator/console");
		assertThat(response.headers().allValues("Content-Type")).containsExactly("text/html;charset=UTF-8");
		assertThat(response.headers().allValues("X-Frame-Options")).containsExactly("DENY");
		assertThat(response.headers().allValues("X-Content-Type-Options")).containsExactly("nosniff");
		assertThat(response.headers().allValues("Referrer-Policy")).containsExactly("no-referrer");
		assertThat(response.headers().allValues("Cache-Control")).containsExactly("no-store");
	}

	@Test
	void allowsTheScriptAndTheStyleOfThePageOnly() throws GeneralSecurityException {
		HttpResponse<byte[]> response = get("/shop/actuator/console");
		String page = text(response);
		String policy = "default-src 'none'; style-src '" + hash(element(page, "style")) + "'; script-src '"
				+ hash(element(page, "script"))
				+ "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";
		assertThat(response.headers().allValues("Content-Security-Policy"))
			.containsExactly(policy + "; frame-ancestors 'none'");
		assertThat(page).contains("<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">");
		assertThat(page).containsOnlyOnce("<style").doesNotContainPattern("\\son[a-z]+=").doesNotContain("innerHTML");
	}

	@Test
	void requestsNothingFromOtherHosts() {
		assertThat(text(get("/shop/actuator/console")).replace("http://www.w3.org/2000/svg", ""))
			.doesNotContain("http://", "https://", "src=");
	}

	@Test
	void tellsThePageWhatIsExposedAndItsPath() {
		JsonNode data = data(get("/shop/actuator/console"));
		assertThat(data.get("path").asString()).isEqualTo("/actuator/console");
		assertThat(data.get("endpoints").propertyNames()).containsExactly("health", "idempotency", "metrics");
		assertThat(data.at("/endpoints/idempotency/path").asString()).isEqualTo("/actuator/idempotency");
		assertThat(data.at("/endpoints/idempotency/write").asBoolean()).isTrue();
		assertThat(data.at("/endpoints/health/write").asBoolean(true)).isFalse();
		assertThat(data.get("csrf").isNull()).isTrue();
	}

	@Test
	void writesNamesSoThatNoneEndsTheElement() {
		HttpResponse<byte[]> response = get("/shop/actuator/console");
		assertThat(data(response).get("application").asString()).endsWith("</script><!--<script>");
		Matcher matcher = DATA.matcher(text(response));
		assertThat(matcher.find()).isTrue();
		assertThat(matcher.group(1)).doesNotContain("<");
	}

	@Test
	void isNotExposedByDefault() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(ConsoleEndpoint.class));
	}

	@Test
	void isAbsentWithoutAccess() {
		this.runner
			.withPropertyValues("management.endpoints.web.exposure.include=*",
					"management.endpoint.console.access=NONE")
			.run((context) -> assertThat(context).doesNotHaveBean(ConsoleEndpoint.class));
	}

	@Test
	void tellsThePageThatNoOtherEndpointIsExposed() {
		this.runner.withPropertyValues("management.endpoints.web.exposure.include=console")
			.run((context) -> assertThat(context.getBean(ConsoleEndpoint.class).page()).contains("\"endpoints\":{}",
					"management.endpoints.web.exposure.include"));
	}

	@Test
	void tellsThePageItsPathOnAManagementPortAndThatAccessIsReadOnly() {
		try (WebApplication application = start("management.server.port=0", "management.server.base-path=/admin",
				"management.endpoints.web.base-path=/ops",
				"management.endpoints.web.path-mapping.console=operators/console",
				"management.endpoints.web.exposure.include=console,idempotency",
				"management.endpoint.idempotency.access=read-only")) {
			String port = application.bean(Environment.class).getRequiredProperty("local.management.port");
			HttpResponse<byte[]> response = application
				.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/admin/ops/operators/console"))
					.build());
			assertThat(response.statusCode()).isEqualTo(200);
			assertThat(response.headers().allValues("Content-Type")).containsExactly("text/html;charset=UTF-8");
			assertThat(response.headers().firstValue("Content-Security-Policy")).isNotEmpty();
			assertThat(response.headers().allValues("X-Frame-Options")).containsExactly("DENY");
			JsonNode data = data(response);
			assertThat(data.get("path").asString()).isEqualTo("/ops/operators/console");
			assertThat(data.at("/endpoints/idempotency/path").asString()).isEqualTo("/ops/idempotency");
			assertThat(data.at("/endpoints/idempotency/write").asBoolean(true)).isFalse();
		}
	}

	@Test
	void lendsThePageTheCsrfTokenOfSpringSecurity() {
		try (WebApplication application = WebApplication.start(SecuredApplication.class, List::of,
				WebApplication.WITH_SECURITY, "management.health.redis.enabled=false",
				"management.endpoints.web.exposure.include=console,idempotency")) {
			assertThat(application.send(application.request("/actuator/console").build()).statusCode()).isEqualTo(401);
			HttpResponse<byte[]> page = application
				.send(application.request("/actuator/console").header("Authorization", OPERATOR).build());
			assertThat(page.headers().allValues("X-Frame-Options")).containsExactly("DENY");
			assertThat(page.headers().allValues("Cache-Control")).containsExactly("no-store");
			JsonNode csrf = data(page).get("csrf");
			String session = page.headers().firstValue("Set-Cookie").orElseThrow();
			IdempotencyKey key = Samples.key();
			IdempotencyStore store = application.bean(IdempotencyStore.class);
			store.claim(key, Fingerprint.of(List.of()), "owner", Duration.ofMinutes(1));
			String release = "/actuator/idempotency/" + key + "/release";
			assertThat(application.post(release, "{}", "Authorization", OPERATOR, "Cookie", session).statusCode())
				.isBetween(401, 403);
			assertThat(store.find(key)).isNotNull();
			HttpResponse<byte[]> released = application.post(release, "{}", "Authorization", OPERATOR, "Cookie",
					session, csrf.get("header").asString(), csrf.get("token").asString());
			assertThat(released.statusCode()).as(text(released)).isEqualTo(200);
			assertThat(store.find(key)).isNull();
		}
	}

	@Test
	void leavesThePageTheTokenOfTheCookieIfThatIsTheOneThatScriptsSend() {
		try (WebApplication application = WebApplication.start(ScriptedApplication.class, List::of,
				WebApplication.WITH_SECURITY, "management.health.redis.enabled=false",
				"management.endpoints.web.exposure.include=console,idempotency")) {
			HttpResponse<byte[]> page = application
				.send(application.request("/actuator/console").header("Authorization", OPERATOR).build());
			JsonNode csrf = data(page).get("csrf");
			String cookie = page.headers().firstValue("Set-Cookie").orElseThrow().replaceFirst(";.*", "");
			assertThat(cookie).startsWith("XSRF-TOKEN=");
			String find = "/actuator/idempotency/" + Samples.key() + "/release";
			assertThat(application
				.post(find, "{}", "Authorization", OPERATOR, "Cookie", cookie, csrf.get("header").asString(),
						csrf.get("token").asString())
				.statusCode()).isBetween(401, 403);
			assertThat(application
				.post(find, "{}", "Authorization", OPERATOR, "Cookie", cookie, csrf.get("header").asString(),
						cookie.substring("XSRF-TOKEN=".length()))
				.statusCode()).isEqualTo(404);
		}
	}

	private static HttpResponse<byte[]> get(String path) {
		HttpResponse<byte[]> response = application.send(application.request(path).GET().build());
		assertThat(response.statusCode()).isEqualTo(200);
		return response;
	}

	static JsonNode data(HttpResponse<byte[]> response) {
		Matcher matcher = DATA.matcher(text(response));
		assertThat(matcher.find()).isTrue();
		return JsonMapper.shared().readTree(matcher.group(1));
	}

	private static String element(String page, String name) {
		String start = "<" + name + ">";
		assertThat(page).containsOnlyOnce(start);
		int from = page.indexOf(start) + start.length();
		return page.substring(from, page.indexOf("</" + name + ">", from));
	}

	private static String hash(String content) throws GeneralSecurityException {
		byte[] digest = MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
		return "sha256-" + Base64.getEncoder().encodeToString(digest);
	}

	static WebApplication start(String... properties) {
		List<String> all = new ArrayList<>(List.of("management.health.redis.enabled=false"));
		all.addAll(List.of(properties));
		return WebApplication.start(Application.class, List::of, all.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		IdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScriptedApplication extends SecuredApplication {

		@Bean
		SecurityFilterChain security(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.csrf(CsrfConfigurer::spa)
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(PlainPasswords.class)
	static class SecuredApplication extends Application {

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("operator").password("x").roles("OPERATOR").build());
		}

	}

}
