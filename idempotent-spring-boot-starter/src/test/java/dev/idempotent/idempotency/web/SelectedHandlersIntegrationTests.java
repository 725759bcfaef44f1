package dev.idempotent.idempotency.web;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.web.accept.ApiVersionParser;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.ApiVersionConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.servlet.function.RequestPredicates.POST;
import static org.springframework.web.servlet.function.RequestPredicates.version;
import static org.springframework.web.servlet.function.RouterFunctions.route;

/**
 * Handlers of one path and method that an API version, a header or a media type selects.
 */
class SelectedHandlersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@BeforeAll
	static void start() {
		application = start(Application.class);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void reset() {
		application.bean(Orders.class).reset();
	}

	@ParameterizedTest
	@CsvSource({ "/orders, X-Version, 1, 2", "/orders, Accept, application/json;version=1, application/json;version=2",
			"/functions, X-Version, 1, 2", "/headers, X-Action, charge, refund", "/required, X-Action, charge, refund",
			"/consumes, Content-Type, application/vnd.charge+json, application/vnd.refund+json",
			"/produces, Accept, application/json, text/csv" })
	void refusesAKeyForAnotherHandlerInsteadOfAnsweringForIt(String path, String header, String one, String two) {
		String key = UUID.randomUUID().toString();
		assertThat(post(application, path, key, header, one)).isEqualTo("200 first");
		assertThat(post(application, path, key, header, two)).startsWith("422");
		assertThat(post(application, path, key, header, one)).isEqualTo("200 first");
		assertThat(runs(application)).isEqualTo(1);
		assertThat(post(application, path, UUID.randomUUID().toString(), header, two)).isEqualTo("200 second");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/orders", "/fixed", "/required" })
	void refusesAKeyForAnotherVersionOfOneHandler(String path) {
		String key = UUID.randomUUID().toString();
		assertThat(post(application, path, key, "X-Version", "1", "X-Action", "charge")).isEqualTo("200 first");
		assertThat(post(application, path, key, "X-Version", "1.5", "X-Action", "charge")).startsWith("422");
		assertThat(post(application, path, key, "X-Version", "1", "X-Action", "charge")).isEqualTo("200 first");
		assertThat(runs(application)).isEqualTo(1);
	}

	@Test
	void recognizesARetryWhoseVersionHasATextOfItsOwn() {
		String key = UUID.randomUUID().toString();
		try (WebApplication custom = start(CustomVersions.class)) {
			for (int i = 0; i < 3; i++) {
				assertThat(post(custom, "/orders", key, "X-Version", "1")).isEqualTo("200 first");
				assertThat(post(custom, "/fingerprint", key, "X-Version", "1")).isEqualTo("200 first");
			}
			assertThat(runs(custom)).isEqualTo(2);
		}
	}

	@Test
	void recognizesARetryAfterTheDefaultVersionWasIntroduced() {
		String key = UUID.randomUUID().toString();
		assertThat(post(application, "/fixed", key, "X-Other", "1")).isEqualTo("200 first");
		try (WebApplication after = start(WithDefault.class)) {
			assertThat(post(after, "/fixed", key, "X-Other", "1")).isEqualTo("200 first");
			assertThat(runs(after)).isZero();
		}
	}

	private static WebApplication start(Class<?> source) {
		return WebApplication.start(source, redis, "idempotent.namespace=selected",
				"idempotent.web.required-for=POST /required,POST /functions");
	}

	private static String post(WebApplication application, String path, String key, String... headers) {
		HttpRequest.Builder request = application.request(path)
			.headers("Idempotency-Key", key)
			.setHeader("Content-Type", "application/json");
		for (int i = 0; i < headers.length; i += 2) {
			request.setHeader(headers[i], headers[i + 1]);
		}
		HttpResponse<byte[]> response = application.send(request.POST(BodyPublishers.ofString("{}")).build());
		return response.statusCode() + " " + WebApplication.text(response).replace("\"", "");
	}

	private static int runs(WebApplication application) {
		return application.bean(Orders.class).runs();
	}

	@RestController
	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping(path = "/orders", version = "1+")
		@Idempotent
		String first() {
			this.runs.incrementAndGet();
			return "\"first\"";
		}

		@PostMapping(path = "/orders", version = "2")
		@Idempotent
		String second() {
			this.runs.incrementAndGet();
			return "\"second\"";
		}

		int runs() {
			return this.runs.get();
		}

		void reset() {
			this.runs.set(0);
		}

		@PostMapping("/fixed")
		@Idempotent
		String fixed() {
			return first();
		}

		@PostMapping(path = "/fingerprint", version = "1+")
		@Idempotent(from = KeySource.FINGERPRINT, name = "by-fingerprint", retention = "1m")
		String byFingerprint() {
			return first();
		}

		@PostMapping(path = "/headers", headers = "X-Action=charge")
		@Idempotent
		String charge() {
			return first();
		}

		@PostMapping(path = "/headers", headers = "X-Action=refund")
		@Idempotent
		String refund() {
			return second();
		}

		@PostMapping(path = "/required", headers = "X-Action=charge")
		String requiredCharge() {
			return first();
		}

		@PostMapping(path = "/required", headers = "X-Action=refund")
		String requiredRefund() {
			return second();
		}

		@PostMapping(path = "/consumes", consumes = "application/vnd.charge+json")
		@Idempotent
		String consumesCharge() {
			return first();
		}

		@PostMapping(path = "/consumes", consumes = "application/vnd.refund+json")
		@Idempotent
		String consumesRefund() {
			return second();
		}

		@PostMapping(path = "/produces", produces = "application/json")
		@Idempotent
		String producesJson() {
			return first();
		}

		@PostMapping(path = "/produces", produces = "text/csv")
		@Idempotent
		String producesCsv() {
			return second();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Application implements WebMvcConfigurer {

		@Override
		public void configureApiVersioning(ApiVersionConfigurer versions) {
			versions.useRequestHeader("X-Version")
				.useMediaTypeParameter(MediaType.APPLICATION_JSON, "version")
				.addSupportedVersions("1.5")
				.setVersionRequired(false);
		}

		@Bean
		RouterFunction<ServerResponse> functions(Orders orders) {
			return route(POST("/functions").and(version("1")), (request) -> ServerResponse.ok().body(orders.first()))
				.andRoute(POST("/functions").and(version("2")), (request) -> ServerResponse.ok().body(orders.second()));
		}

	}

	/**
	 * As it was, but with a default version.
	 */
	@Configuration(proxyBeanMethods = false)
	static class WithDefault extends Application {

		@Override
		public void configureApiVersioning(ApiVersionConfigurer versions) {
			super.configureApiVersioning(versions);
			versions.setDefaultVersion("1");
		}

	}

	/**
	 * Versions without a text of their own.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class CustomVersions implements WebMvcConfigurer {

		@Override
		public void configureApiVersioning(ApiVersionConfigurer versions) {
			ApiVersionParser<Version> parser = Version::new;
			versions.useRequestHeader("X-Version").setVersionParser(parser);
		}

		@Bean
		IdempotencyScopeResolver scopes() {
			return (request) -> "caller";
		}

		static final class Version implements Comparable<Version> {

			private final int number;

			Version(String text) {
				this.number = Integer.parseInt(text);
			}

			@Override
			public int compareTo(Version other) {
				return Integer.compare(this.number, other.number);
			}

		}

	}

}
