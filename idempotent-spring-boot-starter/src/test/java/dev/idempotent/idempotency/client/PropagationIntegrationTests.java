package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpRequest;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Calls from an idempotent run to a service that is idempotent itself.
 */
class PropagationIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void start() {
		application = WebApplication.start(Payments.class, redis, "idempotent.namespace=shop",
				"idempotent.client.targets.pay=127.0.0.1/charges");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@AfterEach
	void endRun() {
		IdempotencyContext.bind(null);
	}

	@Test
	void areDoneOnceThoughTheirAnswerGotLost() {
		beginRun();
		RestClient losing = client().mutate().requestInterceptor(PropagationIntegrationTests::lose).build();
		int before = runs();
		assertThatExceptionOfType(ResourceAccessException.class).isThrownBy(() -> charge(losing));
		ResponseEntity<String> retry = charge(client());
		assertThat(runs()).isEqualTo(before + 1);
		assertThat(retry.getBody()).isEqualTo("charge " + runs());
		assertThat(retry.getHeaders().getFirst("Idempotent-Replayed")).isEqualTo("true");
	}

	@Test
	void areDoneAsOftenAsTheyAreMeantHoweverOftenTheRunIsRepeated() {
		int before = runs();
		List<String> first = chargeTwice();
		List<String> second = chargeTwice();
		assertThat(runs()).isEqualTo(before + 2);
		assertThat(first).doesNotHaveDuplicates();
		assertThat(second).isEqualTo(first);
	}

	private List<String> chargeTwice() {
		beginRun();
		return List.of(String.valueOf(charge(client()).getBody()), String.valueOf(charge(client()).getBody()));
	}

	private void beginRun() {
		IdempotencyContext.bind(new IdempotencyContext(this.key, "token"));
	}

	private static RestClient client() {
		return application.bean(RestClient.Builder.class).build();
	}

	private static ResponseEntity<String> charge(RestClient client) {
		URI charges = application.request("/charges").build().uri();
		return client.post().uri(charges).body("one").retrieve().toEntity(String.class);
	}

	private static int runs() {
		return application.bean(Charges.class).runs();
	}

	private static ClientHttpResponse lose(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		execution.execute(request, body).close();
		throw new IOException("The answer got lost");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Charges.class)
	static class Payments {

	}

	@RestController
	static class Charges {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		@PostMapping("/charges")
		@Idempotent
		String charge(@RequestBody String body) {
			return "charge " + this.runs.incrementAndGet();
		}

	}

}
