package dev.idempotent.autoconfigure.saga;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import dev.idempotent.autoconfigure.idempotency.ImportClient;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.saga.method.SagaCalls;
import dev.idempotent.testing.FaultyGateway;
import dev.idempotent.testing.FaultyGateway.Fault;
import dev.idempotent.testing.PaymentProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Sagas that charge at a payment provider behind a gateway, and what stands in its book.
 */
class PaymentProviderTests {

	/**
	 * Follows no redirects.
	 */
	private static final ClientHttpRequestFactory REQUESTS = new JdkClientHttpRequestFactory(
			HttpClient.newHttpClient());

	private static final String DECLINED = "declined-";

	private final PaymentProvider provider = new PaymentProvider();

	private final FaultyGateway gateway = new FaultyGateway().to(this.provider.uri());

	private final String order = UUID.randomUUID().toString();

	@AfterEach
	void close() {
		this.gateway.close();
		this.provider.close();
	}

	/**
	 * The provider has never charged, whichever attempt it has declined.
	 */
	@ParameterizedTest
	@EnumSource(names = { "NONE", "BAD_GATEWAY", "UNAVAILABLE", "HTML_403", "TIMEOUT", "REDIRECT", "LOST", "CUT",
			"DROPPED", "TWICE", "LATE" })
	void areCompensatedAfterADeclineWhateverAttemptItAnswers(Fault fault) {
		this.gateway.fail("/charges", fault);
		OperatedSaga ended = place(Booking.class, DECLINED + this.order);
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.provider.book(DECLINED + this.order)).isEmpty();
		assertThat(this.gateway.requests("/charges")).isLessThanOrEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource(names = { "BAD_GATEWAY", "UNAVAILABLE", "HTML_403", "TIMEOUT", "REDIRECT", "LOST", "CUT", "DROPPED",
			"TWICE", "LATE" })
	void chargeAndRefundOnceWhateverIsLost(Fault fault) {
		this.gateway.fail("/charges", fault);
		this.gateway.fail("/refunds", fault);
		assertThat(place(Booking.class, "undone-" + this.order).status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.provider.book("undone-" + this.order)).containsExactly("charge", "refund");
	}

	/**
	 * A page of the gateway is not the refusal of the provider.
	 */
	@Test
	void refundAfterTheGatewayHasAnsweredTheUndo() {
		this.gateway.fail("/refunds", Fault.HTML_404);
		assertThat(place(Booking.class, "undone-" + this.order).status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.provider.book("undone-" + this.order)).containsExactly("charge", "refund");
	}

	@Test
	void areCompensatedIfTheChargeWasRefundedByHand() {
		this.provider.refundByHand("undone-" + this.order);
		assertThat(place(Booking.class, "undone-" + this.order).status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.provider.book("undone-" + this.order)).containsExactly("refund", "charge");
	}

	@Test
	void areCompensatedAfterTheExceptionOfADecline() {
		OperatedSaga ended = place(TranslatedBooking.class, DECLINED + this.order);
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.gateway.requests("/charges")).isOne();
	}

	/**
	 * Without a key, each call may charge again: the first one is the last.
	 */
	@ParameterizedTest
	@EnumSource(names = { "NONE", "LOST", "BAD_GATEWAY", "TIMEOUT" })
	void areHaltedByTheFirstCallOfAClientThatIsNotObserved(Fault fault) {
		this.gateway.fail("/charges", fault);
		OperatedSaga halted = place(KeylessBooking.class, "order-" + this.order);
		assertThat(halted.status()).isEqualTo(SagaStatus.HALTED);
		assertThat(halted.haltReason()).contains("no call was observed", "take the key and send it");
		assertThat(this.gateway.requests("/charges")).isOne();
	}

	@Test
	void areHaltedByTheFirstDeclineOfAClientThatIsNotObserved() {
		for (Class<? extends Booking> booking : List.of(KeylessBooking.class, KeylessTranslatedBooking.class)) {
			this.gateway.recover();
			assertThat(place(booking, DECLINED + this.order).status()).isEqualTo(SagaStatus.HALTED);
			assertThat(this.gateway.requests("/charges")).isOne();
		}
	}

	/**
	 * This client is not observed, so a fault must be an exception of it.
	 */
	@ParameterizedTest
	@EnumSource(names = { "BAD_GATEWAY", "UNAVAILABLE", "HTML_403", "TIMEOUT", "LOST", "DROPPED", "TWICE", "LATE" })
	void chargeOnceWithTheKeyThatTheActionTakes(Fault fault) {
		this.gateway.fail("/charges", fault);
		this.gateway.fail("/refunds", fault);
		assertThat(place(KeyedBooking.class, "undone-" + this.order).status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.provider.book("undone-" + this.order)).containsExactly("charge", "refund");
		assertThat(this.provider.keyless()).isZero();
	}

	private OperatedSaga place(Class<? extends Booking> booking, String reference) {
		OperatedSaga[] ended = new OperatedSaga[1];
		application(booking).run((context) -> {
			IdempotencyKey id = context.getBean(SagaCalls.class)
				.start(() -> context.getBean(Booking.class).place(reference));
			ended[0] = await().atMost(Duration.ofMinutes(1))
				.until(() -> context.getBean(SagaAdministration.class).inspect(id),
						(saga) -> saga != null && !saga.status().isOpen());
		});
		return ended[0];
	}

	private ApplicationContextRunner application(Class<?> booking) {
		return SagaApplication.with(booking)
			.withConfiguration(ImportClient.CLASSES)
			.withPropertyValues("idempotent.saga.initialize-schema=always", "idempotent.saga.attempts=4",
					"idempotent.client.targets.payments=" + this.gateway.url(),
					"idempotent.client.honouring-keys=payments", "test.payments=" + this.gateway.url());
	}

	static class Declined extends RuntimeException {

	}

	static class Booking {

		private final SagaSteps saga;

		private final String url;

		private final RestClient client;

		Booking(SagaSteps saga, Environment environment, IdempotencyKeyInterceptor interceptor) {
			this.saga = saga;
			this.url = environment.getRequiredProperty("test.payments");
			this.client = client(RestClient.builder().requestFactory(REQUESTS).baseUrl(this.url), interceptor).build();
		}

		RestClient.Builder client(RestClient.Builder builder, IdempotencyKeyInterceptor interceptor) {
			return builder.requestInterceptor(interceptor);
		}

		@Saga(name = "payment", key = "#reference", timeout = "10m")
		public void place(String reference) {
			charge(this.saga, reference);
			if (reference.startsWith("undone")) {
				throw new UnsupportedOperationException("Undo");
			}
		}

		void charge(SagaSteps steps, String reference) {
			steps.step("charge")
				.undoneBy((response) -> response.body().contains("already-refunded"))
				.compensate(() -> send("refunds", reference, null))
				.run(() -> send("charges", reference, null));
		}

		void send(String path, String reference, @Nullable String key) {
			this.client.post().uri("/" + path).headers((headers) -> {
				if (key != null) {
					headers.set("Idempotency-Key", key);
				}
			}).body(reference).retrieve().toBodilessEntity();
		}

		void sendTranslating(String path, String reference) {
			this.client.post()
				.uri("/" + path)
				.body(reference)
				.retrieve()
				.onStatus(HttpStatusCode::is4xxClientError, (request, response) -> {
					throw new Declined();
				})
				.toBodilessEntity();
		}

	}

	static class TranslatedBooking extends Booking {

		TranslatedBooking(SagaSteps saga, Environment environment, IdempotencyKeyInterceptor interceptor) {
			super(saga, environment, interceptor);
		}

		@Override
		void charge(SagaSteps steps, String reference) {
			steps.step("charge").refusedWhen(Declined.class).run(() -> sendTranslating("charges", reference));
		}

	}

	static class KeylessBooking extends Booking {

		KeylessBooking(SagaSteps saga, Environment environment, IdempotencyKeyInterceptor interceptor) {
			super(saga, environment, interceptor);
		}

		@Override
		RestClient.Builder client(RestClient.Builder builder, IdempotencyKeyInterceptor interceptor) {
			return builder;
		}

	}

	static class KeylessTranslatedBooking extends KeylessBooking {

		KeylessTranslatedBooking(SagaSteps saga, Environment environment, IdempotencyKeyInterceptor interceptor) {
			super(saga, environment, interceptor);
		}

		@Override
		void charge(SagaSteps steps, String reference) {
			steps.step("charge").run(() -> sendTranslating("charges", reference));
		}

	}

	static class KeyedBooking extends KeylessBooking {

		KeyedBooking(SagaSteps saga, Environment environment, IdempotencyKeyInterceptor interceptor) {
			super(saga, environment, interceptor);
		}

		@Override
		void charge(SagaSteps steps, String reference) {
			steps.step("charge", String.class)
				.compensate((result, key) -> send("refunds", reference, key))
				.run((key) -> {
					send("charges", reference, key);
					return "charged";
				});
		}

	}

}
