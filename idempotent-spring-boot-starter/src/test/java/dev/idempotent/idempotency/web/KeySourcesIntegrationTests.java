package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keys that are derived from the request instead of the header.
 */
class KeySourcesIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis))
		.resetting(Operations.class, Operations::reset);

	private final String key = UUID.randomUUID().toString();

	@Test
	void takesEqualRequestsForOneWhereTheFingerprintIsTheKey() {
		String body = '"' + this.key + '"';
		assertThat(text(application.post("/merged", body))).isEqualTo("run 1");
		assertThat(text(application.post("/merged", body))).isEqualTo("run 1");
		assertThat(text(application.post("/merged", "1" + this.key.hashCode()))).isEqualTo("run 2");
	}

	@Test
	void prefersTheHeaderToTheFingerprint() {
		String body = '"' + this.key + '"';
		assertThat(text(application.post("/either", body))).isEqualTo("run 1");
		assertThat(text(application.post("/either", body))).isEqualTo("run 1");
		assertThat(text(application.post("/either", body, KEY, this.key))).isEqualTo("run 2");
		assertThat(text(application.post("/either", body, KEY, this.key))).isEqualTo("run 2");
	}

	@Test
	void derivesTheKeyFromTheRequest() {
		String path = "/derived/" + this.key;
		assertThat(text(application.post(path, "{\"event\":7}"))).isEqualTo("run 1");
		assertThat(text(application.post(path, "{\"event\":7.0}"))).isEqualTo("run 1");
		assertThat(text(application.post(path, "{\"event\":8}"))).isEqualTo("run 2");
		assertRefused(application.post(path, "{\"event\":7,\"more\":1}"), 422, "key-reused");
		assertThat(text(application.post(path, "{\"event\":7,\"more\":1}"))).contains("derives its idempotency key")
			.contains("The first one counts. It was processed, or is in progress.")
			.contains("send the first request again unchanged, or look it up")
			.doesNotContain("another key");
		assertRefused(application.post(path, "{}"), 400, "key-missing");
		assertRefused(application.post(path, "{\"event\":7,\"more\":1e10000000}"), 400, "request-malformed");
	}

	@Test
	void takesTheHeaderAloneOfCallersWhoAreNotKnown() {
		try (WebApplication open = WebApplication.start(OperationsApplication.class, redis)) {
			assertRefused(open.post("/merged", "{}"), 500, "caller-unknown");
			assertRefused(open.post("/either", "{}"), 400, "key-missing");
			assertThat(open.bean(Operations.class).runs()).isZero();
			assertThat(text(open.post("/either", "{}", KEY, this.key))).isEqualTo("run 1");
			assertThat(text(open.post("/derived/" + this.key, "{\"event\":7}"))).isEqualTo("run 2");
		}
	}

	private static void assertRefused(HttpResponse<byte[]> response, int status, String type) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(text(response)).contains(type);
	}

	@Configuration(proxyBeanMethods = false)
	@Import(OperationsApplication.class)
	static class Application {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "everyone";
		}

	}

}
