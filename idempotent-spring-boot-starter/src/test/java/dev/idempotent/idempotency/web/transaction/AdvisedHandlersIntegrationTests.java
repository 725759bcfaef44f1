package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.annotation.EnableResilientMethods;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Advice of applications around handlers under {@code Guarantee.TRANSACTION}: what is not
 * one complete call of the handler is not committed.
 */
class AdvisedHandlersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> WebApplication.start(Application.class,
			redis, WebApplication.WITH_DATABASE, "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()));

	private final String name = "work-" + UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	@Test
	void commitNoAttemptOfARetriedHandler() {
		int before = runs();
		HttpResponse<byte[]> first = post("/retried");
		assertThat(first.statusCode()).as(text(first)).isEqualTo(503);
		assertThat(rows()).isZero();
		assertThat(runs()).as("the body is not entered a second time").isEqualTo(before + 1);
		assertThat(post("/retried").statusCode()).isEqualTo(503);
		assertThat(runs()).isEqualTo(before + 2);
		assertThat(rows()).isZero();
	}

	@Test
	void repeatAHandlerUnderALease() {
		HttpResponse<byte[]> first = post("/retried-under-lease");
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(rows()).isEqualTo(2);
		assertReplayed(first, post("/retried-under-lease"));
		assertThat(rows()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "unordered", "outer" })
	void doNotCommitWorkThatAFallbackHides(String position) {
		int before = runs();
		assertProblem(post("/failing/" + position + "-fallback"), "rolled-back");
		assertThat(rows()).isZero();
		assertProblem(post("/failing/" + position + "-fallback"), "rolled-back");
		assertThat(runs()).isEqualTo(before + 2);
		assertThat(rows()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "unordered", "outer" })
	void storeTheRefusalThatAFallbackReturns(String position) {
		HttpResponse<byte[]> first = post("/failing/" + position + "-refusal");
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(rows()).isZero();
		assertReplayed(first, post("/failing/" + position + "-refusal"));
	}

	@ParameterizedTest
	@CsvSource({ "succeeding, unordered-twice", "succeeding, outer-twice", "failing, outer-elsewhere",
			"succeeding, outer-elsewhere", "succeeding, unordered-elsewhere", "succeeding, outer-late",
			"succeeding, unordered-late" })
	void doNotCommitWhatIsNotOneCompleteCall(String handler, String advice) {
		assertThat(post("/" + handler + "/" + advice).statusCode()).isEqualTo(500);
		assertThat(rows()).isZero();
		assertThat(isReplay(post("/" + handler + "/" + advice))).isFalse();
		assertThat(rows()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "unordered-work-instead", "outer-work-instead", "outer-instead" })
	void doNotReportSuccessWithoutTheHandler(String advice) {
		assertProblem(post("/succeeding/" + advice), "rolled-back");
		assertThat(rows()).isZero();
	}

	@Test
	void commitOneCompleteCall() {
		HttpResponse<byte[]> first = post("/succeeding/none");
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(rows()).isOne();
		assertReplayed(first, post("/succeeding/none"));
		assertThat(rows()).isOne();
	}

	private HttpResponse<byte[]> post(String path) {
		return application.post(path + "?name=" + this.name, "{}", "Idempotency-Key", this.key);
	}

	private int rows() {
		return application.bean(Works.class).count(this.name);
	}

	private static int runs() {
		return application.bean(AdvisedController.class).runs();
	}

	private static boolean isReplay(HttpResponse<byte[]> response) {
		return response.headers().firstValue("Idempotent-Replayed").isPresent();
	}

	private static void assertReplayed(HttpResponse<byte[]> first, HttpResponse<byte[]> retry) {
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.statusCode()).isEqualTo(first.statusCode());
		assertThat(retry.body()).isEqualTo(first.body());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableResilientMethods
	@Import({ AdvisedController.class, AdvisedController.UnorderedAspect.class, AdvisedController.OuterAspect.class,
			Works.class })
	static class Application {

	}

}
