package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.SimulatedProcess.Death;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Steps at a service that does not recognize a repeated call.
 */
class StepsAtMostOnceTests extends AbstractSagaEngineTests {

	private static final byte[] ARGUMENTS = { 1 };

	@Test
	void haltWithoutAnotherCallOfAnActionWhoseOutcomeIsUnknown() {
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("charge").atMostOnce().run(() -> {
				this.log.add("charge");
				throw new IllegalStateException("timeout");
			});
			return "";
		}));
		assertThat(this.log).containsExactly("charge");
		assertThat(find().reason()).contains("unknown", "at most once", "If it has not, retry the saga",
				"undo the action by hand");
	}

	@Test
	void haltWithoutAnotherCallOfAnUndoWhoseOutcomeIsUnknown() {
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("charge").atMostOnce().compensate(() -> {
				this.log.add("refund");
				throw new IllegalStateException("timeout");
			}).run(() -> this.log.add("charge"));
			throw new UnsupportedOperationException("Undo");
		}));
		assertThat(this.log).containsExactly("charge", "refund");
		assertThat(this.store.find(this.id)).satisfies((saga) -> assertThat(saga.reason()).isNotNull());
	}

	@Test
	void areUndoneAfterARefusal() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("hold")
				.atMostOnce()
				.compensate(() -> this.log.add("release"))
				.run(() -> this.log.add("hold"));
			this.saga.step("charge").atMostOnce().run(() -> {
				throw new StepRefusedException("declined");
			});
			return "";
		}));
		assertThat(this.log).containsExactly("hold", "release");
	}

	/**
	 * Another process would not know whether the action has taken effect.
	 */
	@Test
	void areUndoneByTheProcessWhoseActionRunsPastTheDeadline() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("charge").atMostOnce().compensate(() -> this.log.add("refund")).run(() -> {
				this.log.add("charge");
				for (int i = 0; i < 40; i++) {
					this.clock.advance(SimulatedProcess.LEASE.dividedBy(2));
					this.store.renew(List.of(Objects.requireNonNull(this.store.find(this.id)).owner()),
							SimulatedProcess.LEASE);
				}
				assertThat(Objects.requireNonNull(this.store.find(this.id)).isLate()).isTrue();
				assertThat(this.store.takeOver(this.id, "another", SimulatedProcess.LEASE)).isNull();
			});
			this.saga.step("ship").run(() -> this.log.add("ship"));
			return "";
		})).satisfies((ex) -> assertThat(ex.reason()).isEqualTo(SagaRun.DEADLINE));
		assertThat(this.log).containsExactly("charge", "refund");
	}

	/**
	 * The process dies at each moment, also between the call and the record of its
	 * outcome.
	 */
	@Test
	void areCalledAtMostOnceWhereverTheirProcessDies() throws Throwable {
		int halted = 0;
		for (boolean undone : new boolean[] { false, true }) {
			int moments = Integer.MAX_VALUE;
			for (int moment = 0; moment <= moments; moment++) {
				Shop shop = new Shop(undone);
				int made = shop.run(moment);
				moments = (moment == 0) ? made : moments;
				shop.clock.advance(SimulatedProcess.LEASE.plusSeconds(1));
				shop.run(0);
				assertThat(shop.charges).as("death at " + moment).hasValueLessThanOrEqualTo(1);
				assertThat(shop.refunds).as("death at " + moment).hasValueLessThanOrEqualTo(shop.charges.get());
				halted += (shop.status() == SagaStatus.HALTED) ? 1 : 0;
			}
		}
		assertThat(halted).isPositive();
	}

	@Test
	void areNeitherPartOfATransactionNorOfAParticipant() {
		for (Consumer<SagaStep<?>> meaningless : List.<Consumer<SagaStep<?>>>of(
				(step) -> step.atMostOnce().runInTransaction(() -> this.log.add("never")),
				(step) -> step.atMostOnce().cancel(() -> {
				}).run(() -> this.log.add("never")))) {
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> call(() -> {
				meaningless.accept(this.saga.step("charge"));
				return "";
			})).withMessageContaining("remove atMostOnce");
		}
		assertThat(this.log).isEmpty();
	}

	/**
	 * One saga of its own.
	 */
	private static final class Shop {

		private final ManualClock clock = new ManualClock();

		private final InMemorySagaStore store = new InMemorySagaStore(this.clock, Duration.ZERO);

		private final IdempotencyKey id = Samples.key();

		private final AtomicInteger charges = new AtomicInteger();

		private final AtomicInteger refunds = new AtomicInteger();

		private final boolean undone;

		Shop(boolean undone) {
			this.undone = undone;
		}

		/**
		 * Returns the number of moments.
		 */
		int run(int lastMoment) throws Throwable {
			SimulatedProcess process = new SimulatedProcess(this.store, lastMoment, 20);
			try {
				@Nullable Object unused = process.engine()
					.call(LambdaSaga.of(() -> pay(process)), this.id, Samples.fingerprint("order"), ARGUMENTS);
			}
			catch (Death | SagaCompensatedException | SagaHaltedException ex) {
				// What counts is what was called.
			}
			return process.moments();
		}

		private String pay(SimulatedProcess process) {
			process.engine()
				.steps()
				.step("charge")
				.atMostOnce()
				.compensate(() -> process.call(this.refunds::incrementAndGet))
				.run(() -> process.call(this.charges::incrementAndGet));
			if (this.undone) {
				throw new UnsupportedOperationException("Undo");
			}
			return "";
		}

		private SagaStatus status() {
			return Objects.requireNonNull(this.store.find(this.id)).status();
		}

	}

}
