package dev.idempotent.idempotency.web.matrix;

import dev.idempotent.idempotency.web.OnTomcatAndJetty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Work that continues after its request has timed out keeps its key until it ends.
 */
class TimedOutHandlersIntegrationTests extends OnTomcatAndJetty {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(TimedOutApplication.class, container, "spring.mvc.async.request-timeout=300ms",
				"server.shutdown=immediate");
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
	void neverRunsTwiceAndAnswersARetryOnceItIsDone(String handler) {
		int before = runs();
		assertThat(answer(handler).status()).isIn(500, 503);
		assertThat(answer(handler).body()).contains("in-progress");
		assertThat(runs() - before).isOne();
		application.bean(TimedOutHandlers.class).openGate();
		await().until(() -> !answer(handler).body().contains("in-progress"));
		assertThat(answer(handler).body()).contains("response-not-kept");
		assertThat(runs() - before).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "callable-that-fails", "future-that-fails", "future-without-success" })
	void runsAgainOnceItHasFailed(String handler) {
		int before = runs();
		assertThat(answer(handler).status()).isEqualTo(503);
		assertThat(answer(handler).body()).contains("in-progress");
		assertThat(runs() - before).isOne();
		application.bean(TimedOutHandlers.class).openGate();
		await().until(() -> !answer(handler).body().contains("in-progress"));
		assertThat(runs() - before).isEqualTo(2);
	}

	private static int runs() {
		return application.bean(TimedOutHandlers.class).runs();
	}

	private Answer answer(String handler) {
		return Answer.of(post("/timed-out/" + handler));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(TimedOutHandlers.class)
	static class TimedOutApplication {

	}

}
