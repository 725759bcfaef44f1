package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.ApiVersionConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * API versions that a header selects, at one URL.
 */
class ApiVersionsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@ParameterizedTest
	@CsvSource({ "X-Version, 1, 2", "Accept, application/json;version=1, application/json;version=2" })
	void refusesAKeyForAnotherVersionInsteadOfAnsweringForIt(String header, String one, String two) {
		String key = UUID.randomUUID().toString();
		try (WebApplication application = WebApplication.start(Application.class, redis)) {
			Orders orders = application.bean(Orders.class);
			assertThat(post(application, key, header, one).body()).asString().isEqualTo("\"first\"");
			assertThat(post(application, key, header, two).statusCode()).isEqualTo(422);
			assertThat(orders.runs()).isEqualTo(1);
			assertThat(post(application, key, header, one).body()).asString().isEqualTo("\"first\"");
			assertThat(orders.runs()).isEqualTo(1);
			assertThat(post(application, UUID.randomUUID().toString(), header, two).body()).asString()
				.isEqualTo("\"second\"");
		}
	}

	private static HttpResponse<byte[]> post(WebApplication application, String key, String header, String version) {
		return application.post("/orders", "", "Idempotency-Key", key, header, version);
	}

	@RestController
	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping(path = "/orders", version = "1")
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

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Application implements WebMvcConfigurer {

		@Override
		public void configureApiVersioning(ApiVersionConfigurer versions) {
			versions.useRequestHeader("X-Version").useMediaTypeParameter(MediaType.APPLICATION_JSON, "version");
		}

	}

}
