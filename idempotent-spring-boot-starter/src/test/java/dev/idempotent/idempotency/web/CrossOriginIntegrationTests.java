package dev.idempotent.idempotency.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.UUID;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pages of other origins can read the library's own responses like the handler's.
 */
class CrossOriginIntegrationTests {

	private static final String SHOP = "https://shop.example";

	private static final String OTHER_SHOP = "https://other.example";

	private static final String ORDER = "{\"item\":\"coupon\",\"amount\":1}";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> {
		System.setProperty("jdk.httpclient.allowRestrictedHeaders", "origin");
		return WebApplication.start(CrossOriginApplication.class, redis);
	});

	private final String key = UUID.randomUUID().toString();

	@Test
	void seeTheReplayWithTheHeadersOfTheirOwnOrigin() {
		assertAllowed(post(SHOP, ORDER), 201, SHOP);
		assertAllowed(post(SHOP, ORDER), 201, SHOP);
		HttpResponse<byte[]> replay = post(OTHER_SHOP, ORDER);
		assertAllowed(replay, 201, OTHER_SHOP);
		assertThat(replay.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	@Test
	void seeProblems() {
		post(SHOP, ORDER);
		assertAllowed(post(SHOP, "{\"item\":\"coupon\",\"amount\":2}"), 422, SHOP);
		assertAllowed(application.post("/orders", ORDER, "Origin", SHOP), 400, SHOP);
	}

	@Test
	void areNotAnsweredIfTheirOriginMayNotAsk() {
		post(SHOP, ORDER);
		HttpResponse<byte[]> response = post("https://evil.example", ORDER);
		assertThat(response.statusCode()).isEqualTo(403);
		assertThat(WebApplication.text(response)).doesNotContain("coupon");
	}

	@Test
	void arePreflightedWithoutAKey() throws Exception {
		HttpResponse<Void> preflight = java.net.http.HttpClient.newHttpClient()
			.send(application.request("/orders")
				.header("Origin", SHOP)
				.header("Access-Control-Request-Method", "POST")
				.header("Access-Control-Request-Headers", "idempotency-key")
				.method("OPTIONS", BodyPublishers.noBody())
				.build(), BodyHandlers.discarding());
		assertThat(preflight.statusCode()).isEqualTo(200);
		assertThat(preflight.headers().firstValue("Access-Control-Allow-Origin")).hasValue(SHOP);
	}

	private HttpResponse<byte[]> post(String origin, String body) {
		return application.post("/orders", body, "Idempotency-Key", this.key, "Origin", origin);
	}

	private static void assertAllowed(HttpResponse<byte[]> response, int status, String origin) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().allValues("Access-Control-Allow-Origin")).containsExactly(origin);
	}

	@Configuration(proxyBeanMethods = false)
	@Import(OperationsApplication.class)
	static class CrossOriginApplication implements WebMvcConfigurer {

		@Override
		public void addCorsMappings(CorsRegistry registry) {
			registry.addMapping("/**").allowedOrigins(SHOP, OTHER_SHOP);
		}

	}

}
