package dev.idempotent.token;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the forms of an application with one-time tokens are answered.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class TokenRules {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final String[] flags;

	@SuppressWarnings("NullAway.Init")
	private WebApplication application;

	@SuppressWarnings("NullAway.Init")
	private OrderForms forms;

	TokenRules(String... flags) {
		this.flags = flags;
	}

	@BeforeAll
	void start() {
		this.application = WebApplication.start(TokenApplication.class, redis, this.flags);
		this.forms = this.application.bean(OrderForms.class);
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	@BeforeEach
	void reset() {
		this.forms.reset();
	}

	@Test
	void processesAFormOnceAndReplaysItsRedirect() {
		String token = text(this.application.send(this.application.request("/orders/new").GET().build()));
		HttpResponse<byte[]> first = submit("item=book&_idempotency=" + token);
		HttpResponse<byte[]> again = submit("item=book&_idempotency=" + token);
		assertThat(first.statusCode()).isEqualTo(302);
		assertThat(again.statusCode()).isEqualTo(302);
		assertThat(again.headers().firstValue("Location")).isPresent()
			.isEqualTo(first.headers().firstValue("Location"));
		assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(this.forms.runs()).isOne();
	}

	private HttpResponse<byte[]> submit(String form) {
		HttpRequest request = this.application.request("/orders")
			.header("Content-Type", "application/x-www-form-urlencoded")
			.POST(BodyPublishers.ofString(form))
			.build();
		return this.application.send(request);
	}

}
