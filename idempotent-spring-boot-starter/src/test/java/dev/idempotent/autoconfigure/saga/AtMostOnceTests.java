package dev.idempotent.autoconfigure.saga;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.saga.method.SagaCalls;
import dev.idempotent.saga.store.RecordedCall.AtMostOnce;
import dev.idempotent.test.FakeParticipant;
import dev.idempotent.test.FakeParticipant.Fault;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.env.Environment;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What operators do about a call that is not repeated, at a service without keys.
 */
class AtMostOnceTests {

	private final FakeParticipant payments = new FakeParticipant();

	private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database, "sa", ""));

	@AfterEach
	void close() {
		this.payments.close();
	}

	@Test
	void aRetryCallsTheActionAgain() {
		this.payments.fail("/charges", Fault.DROPPED);
		place("B-17", (id, operators) -> {
			OperatedSaga halted = ended(id, operators);
			assertThat(halted.status()).isEqualTo(SagaStatus.HALTED);
			assertThat(halted.haltReason()).contains("at most once", "retry the saga");
			assertThat(this.payments.effects()).isEmpty();
			assertThat(operators.retry(id)).isTrue();
			assertThat(ended(id, operators).status()).isEqualTo(SagaStatus.COMPLETED);
		});
		assertThat(this.payments.effects()).containsExactly("/charges");
	}

	@Test
	void aRetryCallsTheUndoAgain() {
		this.payments.fail("/refunds", Fault.DROPPED);
		place("undone", (id, operators) -> {
			assertThat(ended(id, operators).haltReason()).contains("at most once", "the undo is called again");
			assertThat(operators.retry(id)).isTrue();
			assertThat(ended(id, operators).status()).isEqualTo(SagaStatus.COMPENSATED);
		});
		assertThat(this.payments.effects()).containsExactly("/charges", "/refunds");
	}

	/**
	 * The operator was not told of the call whose outcome is unknown.
	 */
	@Test
	void aRetryOfASagaThatWasHaltedForAnotherReasonCallsNothingAgain() {
		this.payments.fail("/charges", Fault.LOST_ANSWER);
		place("B-17", (id, operators) -> {
			assertThat(ended(id, operators).status()).isEqualTo(SagaStatus.HALTED);
			this.jdbc.update("update saga_step set call_identity = ?", AtMostOnce.BEGUN.text());
			assertThat(operators.retry(id)).isTrue();
			assertThat(ended(id, operators).haltReason()).contains("at most once");
		});
		assertThat(this.payments.requests()).hasSize(1);
	}

	/**
	 * A version in which the step was not called at most once has recorded no call.
	 */
	@ParameterizedTest
	@CsvSource({ "B-17, /charges, 1", "undone, /refunds, 2" })
	void aCallThatAnEarlierVersionMayHaveMadeIsNotRepeated(String reference, String path, int calls) {
		this.payments.fail(path, Fault.LOST_ANSWER);
		place(reference, (id, operators) -> {
			assertThat(ended(id, operators).status()).isEqualTo(SagaStatus.HALTED);
			this.jdbc.update("update saga_step set call_identity = null");
			assertThat(operators.retry(id)).isTrue();
			assertThat(ended(id, operators).haltReason()).contains("at most once");
			assertThat(this.payments.requests()).hasSize(calls);
			assertThat(operators.retry(id)).isTrue();
			assertThat(ended(id, operators).haltReason()).isNull();
		});
		assertThat(this.payments.requests()).hasSize(calls + 1);
	}

	@Test
	void anAbortCallsNothingAgain() {
		this.payments.fail("/charges", Fault.LOST_ANSWER);
		place("B-17", (id, operators) -> {
			assertThat(ended(id, operators).status()).isEqualTo(SagaStatus.HALTED);
			assertThat(operators.abort(id, "was charged")).isTrue();
			assertThat(ended(id, operators).haltReason()).contains("Then skip the step");
			assertThat(operators.skip(id, "charge", "refunded by hand")).isTrue();
			assertThat(operators.retry(id)).isTrue();
			assertThat(ended(id, operators).status()).isEqualTo(SagaStatus.COMPENSATED);
		});
		assertThat(this.payments.effects()).containsExactly("/charges");
	}

	private static OperatedSaga ended(IdempotencyKey id, SagaAdministration operators) {
		return await().atMost(Duration.ofMinutes(1))
			.until(() -> operators.inspect(id), (saga) -> saga != null && !saga.status().isOpen());
	}

	private void place(String reference, BiConsumer<IdempotencyKey, SagaAdministration> operators) {
		SagaApplication.with(Booking.class)
			.withPropertyValues("idempotent.saga.initialize-schema=always", "test.payments=" + this.payments.url(),
					"spring.datasource.generate-unique-name=false", "spring.datasource.url=" + this.database,
					"spring.datasource.username=sa")
			.run((context) -> operators.accept(
					context.getBean(SagaCalls.class).start(() -> context.getBean(Booking.class).place(reference)),
					context.getBean(SagaAdministration.class)));
	}

	static class Booking {

		private final SagaSteps saga;

		private final RestClient payments;

		Booking(SagaSteps saga, Environment environment) {
			this.saga = saga;
			this.payments = RestClient.builder()
				.requestFactory(new JdkClientHttpRequestFactory(HttpClient.newHttpClient()))
				.baseUrl(environment.getRequiredProperty("test.payments"))
				.build();
		}

		@Saga(name = "legacy-booking", key = "#reference")
		public void place(String reference) {
			this.saga.step("charge")
				.atMostOnce()
				.compensate(() -> send("/refunds", reference))
				.run(() -> send("/charges", reference));
			if (reference.equals("undone")) {
				throw new UnsupportedOperationException("Undo");
			}
		}

		private void send(String path, String reference) {
			this.payments.post().uri(path).body(List.of(reference)).retrieve().toBodilessEntity();
		}

	}

}
