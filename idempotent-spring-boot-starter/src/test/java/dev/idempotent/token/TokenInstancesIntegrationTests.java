package dev.idempotent.token;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnection;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances with the same secrets, while one after the other gets a new one.
 */
@ExtendWith(OutputCaptureExtension.class)
class TokenInstancesIntegrationTests {

	private static final String OLD = "k1:" + "A".repeat(43) + "=";

	private static final String NEW = "k2:" + "B".repeat(43) + "=";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void runAFormOnceWhicheverOfThemIssuesOrProcessesIt(CapturedOutput output) {
		try (WebApplication one = start(OLD + "," + NEW); WebApplication other = start(NEW + "," + OLD)) {
			for (WebApplication issuer : new WebApplication[] { one, other }) {
				String token = issue(issuer);
				CompletableFuture<HttpResponse<byte[]>> first = submit(one, token);
				CompletableFuture<HttpResponse<byte[]>> second = submit(other, token);
				assertThat(first.join().statusCode()).isIn(302, 409);
				assertThat(second.join().statusCode()).isIn(302, 409);
				assertThat(submit(other, token).join().headers().firstValue("Idempotent-Replayed")).hasValue("true");
				assertThat(location(submit(one, token))).isEqualTo(location(submit(other, token)));
				assertThat(output).doesNotContain(token);
			}
			assertThat(one.bean(OrderForms.class).runs() + other.bean(OrderForms.class).runs()).isEqualTo(2);
			assertThat(output).contains("from the token").doesNotContain("AAAAAAAA", "BBBBBBBB");
		}
	}

	@Test
	void refuseATokenOfASecretThatTheyDoNotHave() {
		try (WebApplication before = start(OLD); WebApplication after = start(NEW)) {
			HttpResponse<byte[]> refused = submit(after, issue(before)).join();
			assertThat(refused.statusCode()).isEqualTo(403);
			assertThat(text(refused)).contains("token-refused");
			assertThat(after.bean(OrderForms.class).runs()).isZero();
		}
	}

	@Test
	void storeNothingForTokensThatAreIssued() {
		try (WebApplication application = start(OLD); RedisConnection connection = redis.connect().getConnection()) {
			OneTimeTokens tokens = application.bean(OneTimeTokens.class);
			Long keys = connection.serverCommands().dbSize();
			for (int i = 0; i < 1_000; i++) {
				tokens.issue("place-order", null);
			}
			// Keys of other tests expire meanwhile.
			assertThat(connection.serverCommands().dbSize()).isLessThanOrEqualTo(keys);
		}
	}

	private static WebApplication start(String secrets) {
		return WebApplication.start(Application.class, redis, "idempotent.token.secrets=" + secrets,
				"idempotent.replay-cache.max-size=1MB", "logging.level.dev.idempotent=trace");
	}

	private static String issue(WebApplication application) {
		return text(application.send(application.request("/orders/new").GET().build()));
	}

	private static CompletableFuture<HttpResponse<byte[]>> submit(WebApplication application, String token) {
		return application.postAsync("/orders?item=book", "{}", "Idempotency-Key", token);
	}

	/**
	 * The path without the host, which differs by instance.
	 */
	private static String location(CompletableFuture<HttpResponse<byte[]>> response) {
		return URI.create(response.join().headers().firstValue("Location").orElseThrow()).getPath();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(OrderForms.class)
	static class Application {

	}

}
