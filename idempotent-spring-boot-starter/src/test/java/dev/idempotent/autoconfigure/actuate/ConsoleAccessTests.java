package dev.idempotent.autoconfigure.actuate;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import tools.jackson.databind.JsonNode;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for who gets the console, and what it may offer.
 */
class ConsoleAccessTests {

	private static final String OPERATOR = SecuredEndpoints.basic("operator");

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ConsoleAutoConfiguration.class));

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
		try (WebApplication application = ConsoleEndpointTests.start("management.server.port=0",
				"management.server.base-path=/admin", "management.endpoints.web.base-path=/ops",
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
			JsonNode data = ConsoleEndpointTests.data(response);
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
			JsonNode csrf = ConsoleEndpointTests.data(page).get("csrf");
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
			JsonNode csrf = ConsoleEndpointTests.data(page).get("csrf");
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
	static class SecuredApplication extends ConsoleEndpointTests.Application {

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("operator").password("{noop}x").roles("OPERATOR").build());
		}

	}

}
