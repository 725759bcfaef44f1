package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers of an action and its cancel without a principal, in an application that could
 * know them.
 */
class CancelCallersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> TransactionApplication
		.start(AnonymousApplication.class, redis, postgres, WebApplication.WITH_DATABASE));

	private final String key = UUID.randomUUID().toString();

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void areRefused(CapturedOutput output) {
		assertRefused(post("/holds/created"));
		assertRefused(post("/releases/created", "Idempotency-Cancels", "another"));
		assertThat(output).contains("IdempotencyScopeResolver");
		assertThat(application.bean(Works.class).count(this.key)).isZero();
		assertThat(application.bean(Works.class).count(HoldController.RELEASED + this.key)).isZero();
	}

	@Test
	void areRefusedWithCredentialsThatNoFilterHasRead() {
		assertRefused(post("/holds/created", "Authorization", "Bearer one"));
		assertRefused(post("/releases/created", "Idempotency-Cancels", "another", "Authorization", "Bearer one"));
	}

	@Test
	void mayUseOtherHandlers() {
		assertThat(post("/jobs/created").statusCode()).isEqualTo(201);
	}

	private static void assertRefused(HttpResponse<byte[]> response) {
		assertProblem(response, "caller-required");
		assertThat(text(response)).doesNotContain("IdempotencyScopeResolver");
	}

	private HttpResponse<byte[]> post(String path, String... headers) {
		String[] all = new String[headers.length + 2];
		all[0] = "Idempotency-Key";
		all[1] = this.key;
		System.arraycopy(headers, 0, all, 2, headers.length);
		return application.post(path + "?name=" + this.key, "{}", all);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ HoldController.class, WorkController.class, WorkController.Advice.class, TroubledWorks.class,
			Works.class })
	static class AnonymousApplication {

	}

}
