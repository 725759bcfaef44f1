package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.ResponseRedactor;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Responses whose stored form is redacted, excluded or refused, under both guarantees.
 */
class ResponseRedactorIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final StallingProxy proxy = StallingProxy.before(postgres);

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> TransactionApplication.start(RedactedApplication.class, redis, postgres, WebApplication.WITH_DATABASE,
				"idempotent.web.excluded-headers=X-Secret", "spring.datasource.url=jdbc:postgresql://" + proxy.host()
						+ ":" + proxy.port() + "/postgres?socketTimeout=3"));

	private static final AtomicInteger runs = new AtomicInteger();

	private final String key = UUID.randomUUID().toString();

	@BeforeEach
	void startOver() {
		runs.set(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void sendsTheOriginalOnceAndReplaysWhatIsStored(String guarantee) {
		HttpResponse<byte[]> first = post(guarantee, "redact");
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(text(first)).startsWith("iban DE02, run ");
		assertThat(first.headers().firstValue("X-Secret")).hasValue("s3cret");
		HttpResponse<byte[]> retry = post(guarantee, "redact");
		assertThat(retry.statusCode()).isEqualTo(201);
		assertThat(text(retry)).isEqualTo("redacted");
		assertThat(retry.headers().firstValue("X-Secret")).isEmpty();
		assertThat(retry.headers().firstValue("X-Order")).hasValue("17");
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(runs.get()).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "lease, refuse", "lease, fail", "transaction, refuse", "transaction, fail" })
	void sendsTheOriginalOnceAndRunsNoRetryOfAResponseThatIsNotKept(String guarantee, String mode) {
		HttpResponse<byte[]> first = post(guarantee, mode);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(text(first)).startsWith("iban DE02, run ");
		HttpResponse<byte[]> retry = post(guarantee, mode);
		assertThat(retry.statusCode()).isEqualTo(409);
		assertThat(text(retry)).contains("urn:problem-type:idempotency:response-not-kept");
		assertThat(runs.get()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void storesNothingThatIsRedactedOrExcluded(String guarantee) {
		post(guarantee, "redact");
		StringBuilder stored = new StringBuilder();
		StringRedisTemplate template = application.bean(StringRedisTemplate.class);
		template.keys("*[0-9a-f]").forEach((each) -> stored.append(template.opsForValue().get(each)));
		JdbcTemplate database = new JdbcTemplate(postgres.connect());
		database.queryForList("select response from idempotency_record where response is not null", byte[].class)
			.forEach((each) -> stored.append(new String(each, StandardCharsets.ISO_8859_1)));
		assertThat(stored.toString()).contains("redacted").doesNotContain("DE02", "s3cret");
	}

	@Test
	void sendsTheOriginalAlsoIfTheReplyToTheCommitIsLost() throws Exception {
		Gate gate = new Gate();
		application.bean(WorkController.class).holdUpAt(gate);
		String path = "/jobs/commit-gate?name=" + this.key + "&mode=redact";
		CompletableFuture<HttpResponse<byte[]>> answer = application.postAsync(path, "{}", "Idempotency-Key", this.key);
		gate.awaitEntry();
		application.bean(WorkController.class).holdUpAt(null);
		proxy.dropNextReply();
		gate.open();
		HttpResponse<byte[]> first = answer.join();
		assertThat(proxy.hasDropped()).isTrue();
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(text(first)).contains("run");
		assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(text(application.post(path, "{}", "Idempotency-Key", this.key))).isEqualTo("redacted");
	}

	private HttpResponse<byte[]> post(String guarantee, String mode) {
		return application.post("/secrets/" + guarantee + "?mode=" + mode, "{}", "Idempotency-Key", this.key);
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TransactionApplication.class, SecretController.class })
	static class RedactedApplication {

		@Bean
		ResponseRedactor redactor() {
			return (request, response) -> switch (String.valueOf(request.getParameter("mode"))) {
				case "redact" -> response.withBody("redacted".getBytes(StandardCharsets.UTF_8));
				case "refuse" -> null;
				case "fail" -> throw new IllegalStateException("DE02");
				default -> response;
			};
		}

	}

	@RestController
	static class SecretController {

		@Idempotent
		@PostMapping("/secrets/lease")
		ResponseEntity<String> underLease(@RequestParam String mode) {
			return respond();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/secrets/transaction")
		ResponseEntity<String> inTransaction(@RequestParam String mode) {
			return respond();
		}

		private ResponseEntity<String> respond() {
			return ResponseEntity.status(201)
				.header("X-Secret", "s3cret")
				.header("X-Order", "17")
				.body("iban DE02, run " + runs.incrementAndGet());
		}

	}

}
