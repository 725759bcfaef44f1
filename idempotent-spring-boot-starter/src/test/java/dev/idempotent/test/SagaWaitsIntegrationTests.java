package dev.idempotent.test;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for waits of days that end at once.
 */
class SagaWaitsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final String key = UUID.randomUUID().toString();

	static Stream<Named<List<String>>> databases() {
		return Stream.of(Named.of("H2", List.of()), Named.of("PostgreSQL", Stream.concat(postgres.properties().stream(),
				Stream.of("spring.datasource.generate-unique-name=false", "idempotent.saga.table-prefix=waits_saga_",
						"idempotent.saga.initialize-schema=always", "idempotent.jdbc.initialize-schema=always"))
			.toList()));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void expireOneAfterTheOther(List<String> database) {
		run(database, (context) -> {
			SagaWaits waits = context.getBean(SagaWaits.class);
			IdempotencyKey id = start(context);
			SagaSnapshot.Waiting first = Objects.requireNonNull(waits.awaitWait(id, "approved").waiting());
			assertThat(Duration.between(first.since(), first.until())).isGreaterThan(Duration.ofHours(71));
			waits.expire(id);
			Objects.requireNonNull(waits.awaitWait(id, "night").waiting());
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> waits.awaitWait(id, "approved"))
				.withMessageContaining("does not wait for 'approved'");
			waits.expire(id);
			assertThat(waits.awaitEnd(id).status()).isEqualTo(SagaStatus.COMPLETED);
			assertThat(context.getBean(Trip.class).take(this.key)).isEqualTo("unapproved");
		});
	}

	/**
	 * The timeout of the saga is six days.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void countForTheTimeout(List<String> database) {
		run(database, (context) -> {
			SagaWaits waits = context.getBean(SagaWaits.class);
			IdempotencyKey id = start(context);
			waits.awaitWait(id, "approved");
			waits.expire(id);
			waits.awaitWait(id, "night");
			context.getBean(Sagas.class).signal(id, "again");
			waits.expire(id);
			waits.awaitWait(id, "vacation");
			waits.expire(id);
			assertThat(waits.awaitEnd(id).status()).isEqualTo(SagaStatus.COMPENSATED);
		});
	}

	@ParameterizedTest
	@MethodSource("databases")
	void areRefusedWhereASagaDoesNotWait(List<String> database) {
		run(database, (context) -> {
			SagaWaits waits = context.getBean(SagaWaits.class);
			Sagas sagas = context.getBean(Sagas.class);
			assertThatIllegalStateException().isThrownBy(() -> waits.expire(sagas.idOf("trip", this.key)))
				.withMessageContaining("does not wait: there is none with this id");
			IdempotencyKey id = start(context);
			waits.awaitWait(id, "approved");
			sagas.cancel(id, "no trip");
			assertThat(waits.awaitEnd(id).status()).isEqualTo(SagaStatus.COMPENSATED);
			assertThatIllegalStateException().isThrownBy(() -> waits.expire(id))
				.withMessageContaining("does not wait: it is COMPENSATED");
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> waits.awaitWait(id, "night"))
				.withMessageContaining("does not wait for 'night'");
		});
	}

	@Test
	void areAbsentWithoutSagas() {
		SagaApplication.with(Support.class)
			.withPropertyValues("idempotent.saga.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(SagaWaits.class));
	}

	private IdempotencyKey start(ApplicationContext context) {
		Trip trip = context.getBean(Trip.class);
		return context.getBean(Sagas.class).start(() -> trip.take(this.key));
	}

	private static void run(List<String> database, Consumer<ApplicationContext> test) {
		SagaApplication.with(Trip.class, Support.class)
			.withPropertyValues(database.toArray(String[]::new))
			.run((context) -> test.accept(context));
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigureIdempotency
	static class Support {

	}

	static class Trip {

		private final SagaSteps saga;

		Trip(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(name = "trip", key = "#key", timeout = "6d")
		public String take(String key) {
			boolean approved = this.saga.await("approved").arrivesWithin(Duration.ofDays(3));
			this.saga.sleep("night", Duration.ofHours(8));
			if (this.saga.await("again").arrivesWithin(Duration.ofMillis(1))) {
				this.saga.sleep("vacation", Duration.ofDays(5));
			}
			return approved ? "approved" : "unapproved";
		}

	}

}
