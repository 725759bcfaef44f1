package dev.idempotent.autoconfigure.saga;

import java.net.http.HttpClient;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.Ledger;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.method.SagaApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A service whose address changes between two attempts of a step recognizes the key.
 */
class MovedServiceTests {

	private final Ledger ledger = new Ledger().at("").at("/pay/v2");

	private RestClient client = client(this.ledger.locations());

	@AfterEach
	void stop() {
		this.ledger.close();
	}

	@Test
	void chargesOnce() {
		run((shop) -> {
			await().ignoreExceptionsInstanceOf(IdempotencyPendingException.class)
				.until(() -> shop.place("1", false), "/charges 1"::equals);
			assertThat(this.ledger.effects("/charges")).isOne();
			assertThat(this.ledger.keys("/charges")).hasSize(2);
			assertThat(this.ledger.keys("/refunds")).isEmpty();
		});
	}

	/**
	 * The response to the first call was lost, and the second location is not listed.
	 */
	@Test
	void sendsNothingWithoutAKeyWhereACallMayBeDone() {
		this.client = client(this.ledger.locations().subList(0, 1));
		run((shop) -> {
			await().ignoreExceptionsInstanceOf(IdempotencyPendingException.class)
				.untilAsserted(() -> assertThatExceptionOfType(SagaHaltedException.class)
					.isThrownBy(() -> shop.place("1", false)));
			assertThat(this.ledger.effects("/charges")).isOne();
			assertThat(this.ledger.keys("/charges")).hasSize(1);
		});
	}

	@Test
	void refundsOnce() {
		run((shop) -> {
			await().untilAsserted(() -> assertThatExceptionOfType(SagaCompensatedException.class)
				.isThrownBy(() -> shop.place("1", true)));
			assertThat(this.ledger.effects("/charges")).isOne();
			assertThat(this.ledger.effects("/refunds")).isOne();
			assertThat(this.ledger.keys("/refunds")).hasSize(2);
		});
	}

	private void run(Scenario scenario) {
		SagaApplication.with(Shop.class)
			.withBean(Service.class, () -> this::post)
			.withPropertyValues("idempotent.namespace=shop", "idempotent.saga.initialize-schema=always",
					"idempotent.saga.wait-timeout=1ms")
			.run((context) -> scenario.run(context.getBean(Shop.class)));
	}

	private static RestClient client(List<String> locations) {
		return RestClient.builder()
			.requestFactory(new JdkClientHttpRequestFactory(HttpClient.newHttpClient()))
			.requestInterceptor(new IdempotencyKeyInterceptor(PropagationTargets.of(Map.of("pay", locations))))
			.build();
	}

	private @Nullable String post(String path) {
		return this.client.post().uri(this.ledger.next() + path).body("one").retrieve().body(String.class);
	}

	@FunctionalInterface
	interface Service {

		@Nullable String post(String path);

	}

	@FunctionalInterface
	interface Scenario {

		void run(Shop shop);

	}

	static class Shop {

		private final SagaSteps saga;

		private final Service service;

		Shop(SagaSteps saga, Service service) {
			this.saga = saga;
			this.service = service;
		}

		@Saga(name = "moved-service", key = "#id")
		public String place(String id, boolean undone) {
			String charge = this.saga.step("charge", String.class)
				.compensate(() -> this.service.post("/refunds"))
				.run(() -> this.service.post("/charges"));
			if (undone) {
				throw new UnsupportedOperationException("Undo");
			}
			return charge;
		}

	}

}
