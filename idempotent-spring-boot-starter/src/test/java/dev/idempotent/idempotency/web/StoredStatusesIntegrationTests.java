package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Responses that are stored and responses that are not, by default and as configured.
 */
class StoredStatusesIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication byDefault = RunningApplication
		.of(() -> WebApplication.start(OperationsApplication.class, redis))
		.resetting(Operations.class, Operations::reset);

	private final Operations operations = byDefault.bean(Operations.class);

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@CsvSource({ "handled, 422", "status, 410" })
	void storesTheResponseOfAnExceptionHandler(String what, int status) {
		HttpResponse<byte[]> first = byDefault.post("/throws", what, KEY, this.key);
		HttpResponse<byte[]> retry = byDefault.post("/throws", what, KEY, this.key);
		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.body()).isEqualTo(first.body()).isNotEmpty();
		assertThat(this.operations.runs()).isOne();
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 202, 400, 402, 404, 410, 411, 413, 422, 426, 427, 430, 499 })
	void storesAnswersBelow500(int status) {
		assertThat(text(byDefault.post("/answers/" + status, "", KEY, this.key))).isEqualTo("run 1");
		HttpResponse<byte[]> retry = byDefault.post("/answers/" + status, "", KEY, this.key);
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(text(retry)).isEqualTo("run 1");
	}

	@ParameterizedTest
	@ValueSource(ints = { 401, 403, 408, 409, 412, 425, 428, 429, 500, 503 })
	void runsAgainAfterResponsesThatAreNotStored(int status) {
		assertThat(text(byDefault.post("/answers/" + status, "", KEY, this.key))).isEqualTo("run 1");
		HttpResponse<byte[]> retry = byDefault.post("/answers/" + status, "", KEY, this.key);
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(text(retry)).isEqualTo("run 2");
	}

	@Test
	void runsAgainAfterAnExceptionThatLeavesTheApplication() {
		assertThat(byDefault.post("/throws", "unhandled", KEY, this.key).statusCode()).isEqualTo(500);
		assertThat(byDefault.post("/throws", "unhandled", KEY, this.key).statusCode()).isEqualTo(500);
		assertThat(this.operations.runs()).isEqualTo(2);
	}

	@Test
	void storesOnlyConfiguredStatuses() {
		try (WebApplication application = WebApplication.start(OperationsApplication.class, redis,
				"idempotent.web.stored-statuses=200-299, 409")) {
			assertThat(answers(application, 201)).containsExactly("run 1", "run 1");
			application.bean(Operations.class).reset();
			assertThat(answers(application, 409)).containsExactly("run 1", "run 1");
			application.bean(Operations.class).reset();
			assertThat(answers(application, 404)).containsExactly("run 1", "run 2");
		}
	}

	@Test
	void storesErrorsIfConfigured() {
		try (WebApplication application = WebApplication.start(OperationsApplication.class, redis,
				"idempotent.on-error=keep")) {
			assertThat(answers(application, 503)).containsExactly("run 1", "run 1");

			application.bean(Operations.class).reset();
			HttpResponse<byte[]> first = application.post("/throws", "unhandled", KEY, this.key);
			HttpResponse<byte[]> retry = application.post("/throws", "unhandled", KEY, this.key);
			assertThat(first.statusCode()).isEqualTo(500);
			assertThat(retry.statusCode()).isEqualTo(500);
			assertThat(retry.body()).isEqualTo(first.body()).isNotEmpty();
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(application.bean(Operations.class).runs()).isOne();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "99", "500", "404-", "404-200", "4xx", "200-500" })
	void rejectsMalformedStatuses(String range) {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> ResponsePolicy.parse(range))
			.withMessageContaining("'" + range + "'");
	}

	private static List<String> answers(WebApplication application, int status) {
		String key = UUID.randomUUID().toString();
		return List.of(text(application.post("/answers/" + status, "", KEY, key)),
				text(application.post("/answers/" + status, "", KEY, key)));
	}

}
