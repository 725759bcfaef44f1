package dev.idempotent.autoconfigure.saga;

import java.net.http.HttpClient;
import java.util.List;

import dev.idempotent.autoconfigure.idempotency.ImportClient;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.RestClientKeys;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.test.FakeParticipant;
import dev.idempotent.test.FakeParticipant.Fault;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.Environment;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for clients that send the keys of steps although no target is listed.
 */
class RestClientKeysTests {

	private final FakeParticipant payments = new FakeParticipant();

	@AfterEach
	void close() {
		this.payments.close();
	}

	@ParameterizedTest
	@EnumSource(names = { "NONE", "LOST_ANSWER", "GATEWAY_TIMEOUT", "BAD_GATEWAY", "TWICE" })
	void chargesOnceWithTheKeyOfTheStep(Fault fault) {
		this.payments.fail("/charges", fault);
		application().run((context) -> context.getBean(Booking.class).place("B-17"));
		assertThat(this.payments.effects()).containsExactly("/charges");
		assertThat(this.payments.requestsWithoutKey()).isZero();
	}

	@Test
	void believesARefusalOfTheService() {
		this.payments.answer("/charges", 402, "");
		application().run((context) -> assertThatExceptionOfType(SagaCompensatedException.class)
			.isThrownBy(() -> context.getBean(Booking.class).place("B-17")));
		assertThat(this.payments.requests()).hasSize(1);
	}

	/**
	 * The response to the first attempt is lost, and the second one is the same refusal.
	 */
	@Test
	void believesARefusalAfterALostAnswerOfAServiceThatHonoursKeys() {
		try (FakeParticipant provider = FakeParticipant.withoutReceipts()) {
			provider.answer("/charges", 402, "");
			provider.fail("/charges", Fault.LOST_ANSWER);
			application().withPropertyValues("test.payments=" + provider.url())
				.run((context) -> assertThatExceptionOfType(SagaCompensatedException.class)
					.isThrownBy(() -> context.getBean(Booking.class).placeWhereKeysAreHonoured("B-17")));
			assertThat(provider.requests()).hasSize(2);
		}
	}

	@Test
	void refusesAServiceThatHonoursKeysAndThatNoOneKnows() {
		application().withPropertyValues("idempotent.client.honouring-keys=payments")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("payments is not the name of a target"));
	}

	/**
	 * The interceptor of the targets, which Spring Boot's builder may have, is replaced.
	 */
	@Test
	void sendsOneKeyWithABuilderThatHasTheInterceptor() {
		application()
			.withPropertyValues("idempotent.client.targets.other=other.example",
					"idempotent.client.honouring-keys=other")
			.run((context) -> {
				this.payments.fail("/charges", Fault.LOST_ANSWER);
				context.getBean(Booking.class).place("B-17");
			});
		assertThat(this.payments.effects()).containsExactly("/charges");
		assertThat(this.payments.requests()).hasSize(2);
	}

	/**
	 * An application that uses the keys has none of the excuses of one without targets.
	 */
	@Test
	void haltsAStepWhoseClientWasBuiltWithoutThem() {
		application().run((context) -> assertThatExceptionOfType(SagaHaltedException.class)
			.isThrownBy(() -> context.getBean(Booking.class).placeByHand("B-17")));
		assertThat(this.payments.requests()).hasSize(1);
	}

	@Test
	void refusesTheNameOfNoService() {
		application().run((context) -> assertThatIllegalArgumentException()
			.isThrownBy(() -> context.getBean(RestClientKeys.class).forService("http://payments")));
	}

	private ApplicationContextRunner application() {
		return SagaApplication.with(Booking.class)
			.withConfiguration(ImportClient.CLASSES)
			.withPropertyValues("idempotent.saga.initialize-schema=always", "test.payments=" + this.payments.url());
	}

	static class Booking {

		private final SagaSteps saga;

		private final RestClient payments;

		private final RestClient honouring;

		private final RestClient byHand;

		Booking(SagaSteps saga, Environment environment, RestClientKeys keys,
				ObjectProvider<IdempotencyKeyInterceptor> interceptors) {
			this.saga = saga;
			RestClient.Builder builder = RestClient.builder()
				.requestFactory(new JdkClientHttpRequestFactory(HttpClient.newHttpClient()))
				.baseUrl(environment.getRequiredProperty("test.payments"));
			this.byHand = builder.clone().build();
			interceptors.ifAvailable(builder::requestInterceptor);
			this.honouring = builder.clone().apply(keys.forService("payments").honouringKeys()).build();
			this.payments = builder.apply(keys.forService("payments")).build();
		}

		@Saga(name = "keyed-booking", key = "#reference")
		public void place(String reference) {
			this.saga.step("charge").run(() -> charge(this.payments, reference));
		}

		@Saga(name = "honoured-booking", key = "#reference")
		public void placeWhereKeysAreHonoured(String reference) {
			this.saga.step("charge").run(() -> charge(this.honouring, reference));
		}

		@Saga(name = "booking-by-hand", key = "#reference")
		public void placeByHand(String reference) {
			this.saga.step("charge").run(() -> charge(this.byHand, reference));
		}

		private void charge(RestClient client, String reference) {
			client.post().uri("/charges").body(List.of(reference)).retrieve().toBodilessEntity();
		}

	}

}
