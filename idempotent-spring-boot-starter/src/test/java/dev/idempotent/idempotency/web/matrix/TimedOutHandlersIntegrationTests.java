package dev.idempotent.idempotency.web.matrix;

import java.util.UUID;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Work that goes on after its request has timed out keeps its key until it ends.
 */
@ParameterizedClass
@ValueSource(strings = { "tomcat", "jetty" })
class TimedOutHandlersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@Parameter
	@SuppressWarnings("NullAway.Init")
	String container;

	private final String key = UUID.randomUUID().toString();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		application = WebApplication.start(TimedOutApplication.class, redis, "test.container=" + container,
				"spring.mvc.async.request-timeout=300ms", "server.shutdown=immediate");
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	@BeforeEach
	void closeGate() {
		application.bean(TimedOutHandlers.class).closeGate();
	}

	@AfterEach
	void openGate() {
		application.bean(TimedOutHandlers.class).openGate();
	}

	@ParameterizedTest
	@ValueSource(strings = { "callable", "task", "future", "servlet-async" })
	void neverRunsTwiceAndTellsARetryOnceItIsDone(String handler) {
		int before = runs();
		assertThat(post(handler).status()).isIn(500, 503);
		assertThat(post(handler).body()).contains("in-progress");
		assertThat(runs() - before).isOne();
		application.bean(TimedOutHandlers.class).openGate();
		await().until(() -> !post(handler).body().contains("in-progress"));
		assertThat(post(handler).body()).contains("response-not-kept");
		assertThat(runs() - before).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "callable-that-fails", "future-that-fails", "future-without-success" })
	void runsAgainOnceItHasFailed(String handler) {
		int before = runs();
		assertThat(post(handler).status()).isEqualTo(503);
		assertThat(post(handler).body()).contains("in-progress");
		assertThat(runs() - before).isOne();
		application.bean(TimedOutHandlers.class).openGate();
		await().until(() -> !post(handler).body().contains("in-progress"));
		assertThat(runs() - before).isEqualTo(2);
	}

	private static int runs() {
		return application.bean(TimedOutHandlers.class).runs();
	}

	private Answer post(String handler) {
		return Answer.of(application.post("/timed-out/" + handler, "{}", "Idempotency-Key", this.key));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TimedOutHandlers.class)
	static class TimedOutApplication {

	}

}
