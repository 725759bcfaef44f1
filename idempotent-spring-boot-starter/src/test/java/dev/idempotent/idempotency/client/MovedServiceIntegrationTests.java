package dev.idempotent.idempotency.client;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.UnaryOperator;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.IdempotencyTemplate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A service whose address changes between two runs under one key recognizes the keys of
 * its calls.
 */
class MovedServiceIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final String key = UUID.randomUUID().toString();

	private final Ledger ledger = new Ledger().at("").at("/pay/v2");

	@SuppressWarnings("NullAway.Init")
	private WebApplication application;

	@BeforeEach
	void start() {
		this.application = WebApplication.start(Shop.class, redis, "idempotent.namespace=shop",
				"idempotent.client.targets.pay=" + String.join(",", this.ledger.locations()),
				"test.locations=" + String.join(",", this.ledger.locations()));
	}

	@AfterEach
	void stop() {
		this.application.close();
		this.ledger.close();
	}

	@Test
	void afterAWebHandler() {
		assertThat(this.application.post("/orders", "{}", "Idempotency-Key", this.key).statusCode()).isEqualTo(500);
		assertThat(this.application.post("/orders", "{}", "Idempotency-Key", this.key).body())
			.isEqualTo("/charges 1".getBytes(StandardCharsets.UTF_8));
		assertChargedOnce();
	}

	@Test
	void afterTheCodeOfATemplate() {
		callTwice((path) -> this.application.bean(IdempotencyTemplate.class)
			.execute("import", this.key, String.class, () -> this.application.bean(Orders.class).post(path)));
		assertChargedOnce();
	}

	@Test
	void afterARecoveryPoint() {
		IdempotencyTemplate template = this.application.bean(IdempotencyTemplate.class);
		callTwice((path) -> template.execute("import", this.key, String.class,
				() -> template.step("charge", String.class, () -> this.application.bean(Orders.class).post(path))));
		assertChargedOnce();
	}

	private static void callTwice(UnaryOperator<String> call) {
		assertThatExceptionOfType(ResourceAccessException.class).isThrownBy(() -> call.apply("/charges"));
		assertThat(call.apply("/charges")).isEqualTo("/charges 1");
	}

	private void assertChargedOnce() {
		assertThat(this.ledger.effects("/charges")).isOne();
		assertThat(this.ledger.keys("/charges")).hasSize(2).doesNotContain("null");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Shop {

	}

	@RestController
	static class Orders {

		private final RestClient client;

		private final String[] locations;

		private int calls;

		Orders(RestClient.Builder client, @Value("${test.locations}") String[] locations) {
			this.client = client.build();
			this.locations = locations;
		}

		@PostMapping("/orders")
		@Idempotent
		String order() {
			return post("/charges");
		}

		String post(String path) {
			String location = this.locations[this.calls++ % this.locations.length];
			return String.valueOf(this.client.post().uri(location + path).body("one").retrieve().body(String.class));
		}

	}

}
