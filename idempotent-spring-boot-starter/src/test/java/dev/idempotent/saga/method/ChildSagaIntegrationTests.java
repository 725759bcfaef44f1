package dev.idempotent.saga.method;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.test.SagaWaits;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for sagas that a saga starts, awaits and undoes, as docs/sagas.md describes it.
 */
class ChildSagaIntegrationTests {

	private static final List<String> LEGS = List.of("outward", "return");

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final String key = UUID.randomUUID().toString();

	static Stream<Named<List<String>>> databases() {
		return Stream.of(Named.of("H2", List.of()), Named.of("PostgreSQL", Stream.concat(postgres.properties().stream(),
				Stream.of("spring.datasource.generate-unique-name=false", "idempotent.saga.table-prefix=children_saga_",
						"idempotent.saga.initialize-schema=always", "idempotent.jdbc.initialize-schema=always"))
			.toList()));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void completeWithTheirParent(List<String> database) {
		run(database, (context) -> {
			IdempotencyKey trip = start(context, "");
			assertThat(end(context, trip)).isEqualTo(SagaStatus.COMPLETED);
			LEGS.forEach((leg) -> assertThat(end(context, leg(context, leg))).isEqualTo(SagaStatus.COMPLETED));
			assertThat(context.getBean(Seats.class).held).hasValue(2);
		});
	}

	@ParameterizedTest
	@MethodSource("databases")
	void areUndoneIfOneOfThemFails(List<String> database) {
		run(database, (context) -> {
			IdempotencyKey trip = start(context, "return");
			assertThat(end(context, trip)).isEqualTo(SagaStatus.COMPENSATED);
			LEGS.forEach((leg) -> assertThat(end(context, leg(context, leg))).isEqualTo(SagaStatus.COMPENSATED));
			assertThat(context.getBean(Seats.class).held).hasValue(0);
		});
	}

	@ParameterizedTest
	@MethodSource("databases")
	void areUndoneIfTheirParentIsCancelled(List<String> database) {
		run(database, (context) -> {
			SagaWaits waits = context.getBean(SagaWaits.class);
			IdempotencyKey trip = start(context, "slow");
			waits.awaitWait(leg(context, "outward"), "confirmed");
			waits.awaitWait(trip, "return");
			context.getBean(Sagas.class).cancel(trip, "The customer has changed her mind");
			assertThat(end(context, trip)).isEqualTo(SagaStatus.COMPENSATED);
			LEGS.forEach((leg) -> assertThat(end(context, leg(context, leg))).isEqualTo(SagaStatus.COMPENSATED));
			assertThat(context.getBean(Seats.class).held).hasValue(0);
		});
	}

	/**
	 * A leg is undone after it has reported its seat, and before its parent confirms it.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void undoTheirParentIfTheyCannotBeConfirmed(List<String> database) {
		run(database, (context) -> {
			SagaWaits waits = context.getBean(SagaWaits.class);
			Sagas sagas = context.getBean(Sagas.class);
			IdempotencyKey trip = start(context, "slow");
			IdempotencyKey outward = leg(context, "outward");
			waits.awaitWait(outward, "confirmed");
			waits.awaitWait(trip, "return");
			sagas.cancel(outward, "The flight is cancelled");
			assertThat(end(context, outward)).isEqualTo(SagaStatus.COMPENSATED);
			sagas.signal(leg(context, "return"), "seat");
			assertThat(end(context, trip)).isEqualTo(SagaStatus.COMPENSATED);
			assertThat(end(context, leg(context, "return"))).isEqualTo(SagaStatus.COMPENSATED);
			assertThat(context.getBean(Seats.class).held).hasValue(0);
		});
	}

	/**
	 * The legs cannot be undone any more.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void haltTheirParentIfItIsCancelledAfterTheirConfirmation(List<String> database) {
		run(database, (context) -> {
			IdempotencyKey trip = start(context, "late");
			context.getBean(SagaWaits.class).awaitWait(trip, "farewell");
			LEGS.forEach((leg) -> assertThat(end(context, leg(context, leg))).isEqualTo(SagaStatus.COMPLETED));
			context.getBean(Sagas.class).cancel(trip, "The customer has changed her mind");
			assertThat(end(context, trip)).isEqualTo(SagaStatus.HALTED);
			assertThat(context.getBean(Seats.class).held).hasValue(2);
		});
	}

	private IdempotencyKey start(ApplicationContext context, String fault) {
		Trips trips = context.getBean(Trips.class);
		return context.getBean(Sagas.class).start(() -> trips.book(this.key, fault));
	}

	private IdempotencyKey leg(ApplicationContext context, String leg) {
		return context.getBean(Sagas.class).idOf("leg", List.of(this.key, leg));
	}

	private static SagaStatus end(ApplicationContext context, IdempotencyKey id) {
		return context.getBean(SagaWaits.class).awaitEnd(id).status();
	}

	private static void run(List<String> database, Consumer<ApplicationContext> test) {
		SagaApplication.with(Agency.class)
			.withPropertyValues(database.toArray(String[]::new))
			.run((context) -> test.accept(context));
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigureIdempotency
	static class Agency {

		@Bean
		Seats seats() {
			return new Seats();
		}

		@Bean
		Legs legs(SagaSteps saga, Sagas sagas, Seats seats) {
			return new Legs(saga, sagas, seats);
		}

		@Bean
		Trips trips(SagaSteps saga, Sagas sagas, Legs legs) {
			return new Trips(saga, sagas, legs);
		}

	}

	static class Seats {

		private final AtomicInteger held = new AtomicInteger();

	}

	static class Legs {

		private final SagaSteps saga;

		private final Sagas sagas;

		private final Seats seats;

		Legs(SagaSteps saga, Sagas sagas, Seats seats) {
			this.saga = saga;
			this.sagas = sagas;
			this.seats = seats;
		}

		@Saga(key = "{#trip, #leg}", name = "leg", timeout = "14d")
		public void book(String trip, String leg, String fault) {
			this.saga.step("begin").compensate(() -> report(trip, leg, false)).runInTransaction(() -> {
			});
			this.saga.step("hold").compensate(() -> this.seats.held.decrementAndGet()).run(() -> {
				if (leg.equals(fault)) {
					throw new StepRefusedException("No seat is left");
				}
				this.seats.held.incrementAndGet();
			});
			if (fault.equals("slow") && leg.equals("return")) {
				this.saga.await("seat").within(Duration.ofDays(7));
			}
			this.saga.step("report").runInTransaction(() -> report(trip, leg, true));
			this.saga.await("confirmed").within(Duration.ofDays(13));
		}

		private void report(String trip, String leg, boolean held) {
			this.sagas.signal(this.sagas.idOf("trip", trip), leg, held);
		}

	}

	static class Trips {

		private final SagaSteps saga;

		private final Sagas sagas;

		private final Legs legs;

		Trips(SagaSteps saga, Sagas sagas, Legs legs) {
			this.saga = saga;
			this.sagas = sagas;
			this.legs = legs;
		}

		@Saga(key = "#trip", name = "trip", timeout = "7d")
		public void book(String trip, String fault) {
			for (String leg : LEGS) {
				this.saga.step("book " + leg)
					.compensate(() -> undo(trip, leg))
					.runInTransaction(() -> this.sagas.start(() -> this.legs.book(trip, leg, fault)));
			}
			for (String leg : LEGS) {
				if (!this.saga.await(leg, Boolean.class).within(Duration.ofDays(6))) {
					throw new IllegalStateException("The leg '" + leg + "' was not booked");
				}
			}
			this.saga.step("confirm").runInTransaction(() -> {
				for (String leg : LEGS) {
					if (this.sagas.signal(leg(trip, leg), "confirmed") != SignalResult.ACCEPTED) {
						throw new StepRefusedException("The leg '" + leg + "' was undone");
					}
				}
			});
			if (fault.equals("late")) {
				this.saga.await("farewell").within(Duration.ofHours(1));
			}
		}

		private void undo(String trip, String leg) {
			Optional<SagaStatus> status = this.sagas.cancel(leg(trip, leg), "The trip is undone");
			if (status.equals(Optional.of(SagaStatus.COMPLETED))) {
				throw new StepRefusedException("The leg is booked: " + leg);
			}
		}

		private IdempotencyKey leg(String trip, String leg) {
			return this.sagas.idOf("leg", List.of(trip, leg));
		}

	}

}
