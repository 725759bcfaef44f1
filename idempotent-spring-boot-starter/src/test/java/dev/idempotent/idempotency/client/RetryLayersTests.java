package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.Samples;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three attempts carry one key and two intended calls carry two, whichever layer retries.
 */
class RetryLayersTests {

	private static final int ATTEMPTS = 3;

	private static final IdempotencyKeyInterceptor KEYS = new IdempotencyKeyInterceptor(
			PropagationTargets.of(Map.of("pay", List.of("127.0.0.1"))));

	private final Downstream downstream = new Downstream();

	@BeforeEach
	void beginRun() {
		IdempotencyContext.bind(new IdempotencyContext(Samples.key(), "token"));
		this.downstream.willAnswer(503, Downstream.SILENCE, 200, 200, 503);
	}

	@AfterEach
	void endRun() {
		IdempotencyContext.bind(null);
		this.downstream.close();
	}

	@Test
	void anInterceptorFurtherInSendsOneKey() throws Exception {
		sendOneKeyPerCall(new Charges(this.downstream, KEYS, RetryLayersTests::retry)::charge);
	}

	@Test
	void anInterceptorFurtherOutSendsOneKey() throws Exception {
		sendOneKeyPerCall(new Charges(this.downstream, RetryLayersTests::retry, KEYS)::charge);
	}

	@Test
	void aRetryTemplateSendsOneKey() throws Exception {
		RetryTemplate retries = new RetryTemplate(
				RetryPolicy.builder().maxRetries(ATTEMPTS - 1).delay(Duration.ZERO).build());
		Charges charges = new Charges(this.downstream, KEYS);
		sendOneKeyPerCall(() -> retries.execute(charges::charge));
	}

	@Test
	void aRetryableMethodSendsOneKey() throws Exception {
		try (AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext()) {
			application.registerBean(Downstream.class, () -> this.downstream);
			application.register(Resilient.class);
			application.refresh();
			sendOneKeyPerCall(application.getBean(Charges.class)::chargeUntilItWorks);
		}
	}

	/**
	 * The first call takes three attempts, the second one, and the third two.
	 */
	private void sendOneKeyPerCall(Callable<String> call) throws Exception {
		for (int i = 0; i < 3; i++) {
			assertThat(call.call()).isEqualTo("done");
		}
		List<String> keys = this.downstream.keys();
		assertThat(keys).hasSize(6).doesNotContain("none");
		assertThat(keys.subList(0, 3)).containsOnly(keys.get(0));
		assertThat(keys.subList(4, 6)).containsOnly(keys.get(4));
		assertThat(List.of(keys.get(0), keys.get(3), keys.get(4))).doesNotHaveDuplicates();
	}

	private static ClientHttpResponse retry(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		for (int attempt = 1;; attempt++) {
			try {
				ClientHttpResponse response = execution.execute(request, body);
				if (attempt == ATTEMPTS || !response.getStatusCode().is5xxServerError()) {
					return response;
				}
				response.close();
			}
			catch (IOException ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	static class Charges {

		private final RestClient client;

		Charges(Downstream downstream, ClientHttpRequestInterceptor... interceptors) {
			this.client = RestClient.builder()
				.baseUrl(downstream.url())
				.requestInterceptors((list) -> list.addAll(List.of(interceptors)))
				.build();
		}

		String charge() {
			String answer = this.client.post().uri("/charges").body("one").retrieve().body(String.class);
			return (answer != null) ? answer : "";
		}

		@Retryable(maxRetries = ATTEMPTS - 1, delay = 0)
		String chargeUntilItWorks() {
			return charge();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(proxyTargetClass = true)
	static class Resilient {

		@Bean
		Charges charges(Downstream downstream) {
			return new Charges(downstream, KEYS);
		}

	}

}
