package dev.idempotent.saga.run;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for what a call of a saga answers.
 */
class SagaEngineTests {

	private final ManualClock clock = new ManualClock();

	private final InMemorySagaStore store = new InMemorySagaStore(this.clock::instant, Duration.ZERO);

	private final SimulatedProcess process = new SimulatedProcess(this.store, 0, 2);

	private final SagaSteps saga = this.process.engine().steps();

	private final Services services = new Services();

	private final IdempotencyKey id = Samples.key();

	private final List<String> log = new ArrayList<>();

	@Test
	void replaysTheResultWithoutRepeatingAStep() throws Throwable {
		Supplier<Object> body = () -> this.saga.step("pay", String.class).run((key) -> this.services.act("pay", key));
		assertThat(call(body)).isEqualTo("result of pay");
		assertThat(call(body)).isEqualTo("result of pay");
		assertThat(this.services.log()).containsExactly("pay+");
	}

	@Test
	void replaysASagaWithoutSteps() throws Throwable {
		assertThat(call(() -> "first")).isEqualTo("first");
		assertThat(call(() -> "second")).isEqualTo("first");
	}

	@Test
	void givesEachRunTheResultThatIsReadBack() throws Throwable {
		List<Integer> list = new ArrayList<>(List.of(1, 2));
		assertThat(call(() -> {
			List<Integer> read = this.saga.step("list", new ParameterizedTypeReference<List<Integer>>() {
			}).run(() -> list);
			assertThat(read).isEqualTo(list).isNotSameAs(list);
			return "same";
		})).isEqualTo("same");
	}

	@Test
	void refusesOtherArguments() throws Throwable {
		Object unused = call(() -> "first");
		assertThatExceptionOfType(IdempotencyMismatchException.class).isThrownBy(() -> this.process.engine()
			.call(LambdaSaga.of(() -> "second"), this.id, Samples.fingerprint("other"), new byte[] { 1 }));
	}

	@Test
	void acceptsAnyArgumentsIfTheyAreNotCompared() throws Throwable {
		Object unused = call(() -> "first");
		assertThat(this.process.engine()
			.call(LambdaSaga.of(() -> "second"), this.id, new Fingerprint(0, ""), new byte[] { 1 })).isEqualTo("first");
	}

	@Test
	void throwsAFailureBeforeTheFirstStepUnchangedAndStoresNothing() throws Throwable {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> call(() -> {
			throw new UnsupportedOperationException();
		}));
		assertThat(call(() -> "second")).isEqualTo("second");
	}

	@Test
	void replaysEvenIfTheBodyNowFailsBeforeItsFirstStep() throws Throwable {
		Object unused = call(() -> "first");
		assertThat(call(() -> {
			throw new UnsupportedOperationException();
		})).isEqualTo("first");
	}

	@Test
	void undoesStepsInReverseOrderAndAlwaysAnswersSo() {
		Supplier<Object> body = () -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).run(() -> this.log.add("a"));
			this.saga.step("b").compensate(() -> this.log.add("undo b")).runInTransaction(() -> this.log.add("b"));
			this.saga.step("c").run(() -> {
				throw new StepRefusedException("no c");
			});
			return "never";
		};
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(body))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo("no c"))
				.withNoCause();
		}
		assertThat(this.log).containsExactly("a", "b", "undo b", "undo a");
		assertThat(find().steps()).extracting("state")
			.containsExactly(StepState.COMPENSATED, StepState.COMPENSATED, StepState.REFUSED);
	}

	@Test
	void keepsTheKeyFreeIfTheFirstStepIsRefusedInItsTransaction() throws Throwable {
		assertThatExceptionOfType(SagaCompensatedException.class)
			.isThrownBy(() -> call(() -> this.saga.step("a", String.class).runInTransaction(() -> {
				throw new StepRefusedException("sold out");
			})))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo("sold out"));
		assertThat(call(() -> "second")).isEqualTo("second");
	}

	@Test
	void goesOnIfTheBodyCatchesARefusal() throws Throwable {
		assertThat(call(() -> {
			try {
				this.saga.step("card").runInTransaction(() -> {
					throw new IllegalArgumentException();
				});
			}
			catch (StepRefusedException ex) {
				this.log.add(ex.getMessage());
			}
			return this.saga.step("cash", String.class).runInTransaction(() -> "paid");
		})).isEqualTo("paid");
		assertThat(this.log).containsExactly(IllegalArgumentException.class.getName());
		assertThat(find().steps()).extracting("state").containsExactly(StepState.REFUSED, StepState.DONE);
	}

	@Test
	void leavesABodyThatCatchesEverything() {
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(() -> {
			for (String step : List.of("a", "b")) {
				try {
					this.saga.step(step).run(() -> {
						this.log.add(step);
						throw new IllegalStateException("timeout");
					});
				}
				catch (Throwable ex) {
					this.log.add("caught");
				}
			}
			return "wrong";
		}));
		assertThat(this.log).containsExactly("a", "caught", "caught");
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
	}

	@Test
	void repeatsAStepOfUnknownOutcomeUnderTheSameKey() throws Throwable {
		Supplier<Object> body = () -> this.saga.step("pay", String.class).run((key) -> {
			this.log.add(key);
			if (this.log.size() == 1) {
				throw new IllegalStateException("timeout");
			}
			return "paid";
		});
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(body));
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(call(body)).isEqualTo("paid");
		assertThat(this.log.get(0)).isEqualTo(this.log.get(1)).matches("[0-9a-f]{64}");
	}

	@Test
	void undoesASagaAfterItsAttemptsAndHaltsItAfterAsManyMore() throws Throwable {
		Supplier<Object> body = () -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).run(() -> this.log.add("a"));
			this.saga.step("b").compensate(() -> this.log.add("undo b")).run(() -> {
				throw new IllegalStateException("timeout");
			});
			return "never";
		};
		for (int i = 0; i < 4; i++) {
			this.clock.advance(Duration.ofMinutes(2));
			assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(body));
			if (i == 2) {
				assertThat(find().status()).isEqualTo(SagaStatus.COMPENSATING);
			}
		}
		this.clock.advance(Duration.ofMinutes(2));
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(body));
		assertThat(this.log).containsExactly("a");
	}

	@Test
	void rollsBackAndRepeatsATransactionAfterATransientFailure() throws Throwable {
		Supplier<Object> body = () -> {
			this.saga.step("a").runInTransaction(() -> this.log.add("a"));
			return this.saga.step("b", Integer.class).runInTransaction(() -> {
				int changed = this.services.change("b", 1);
				if (this.services.net("b") == 1 && this.services.log().size() == 1) {
					throw new QueryTimeoutException("slow");
				}
				return changed;
			});
		};
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(body));
		assertThat(this.services.net("b")).isZero();
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(call(body)).isEqualTo(7);
		assertThat(this.services.net("b")).isOne();
		assertThat(this.log).containsExactly("a");
	}

	@Test
	void refusesASagaWithinASagaAndTwoStepsOfOneName() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").run(() -> {
			});
			this.saga.step("a").run(() -> this.log.add("twice"));
			return "";
		})).withMessageContaining(IllegalStateException.class.getName());
		assertThat(this.log).isEmpty();
		assertThatIllegalStateException().isThrownBy(() -> this.saga.step("outside"))
			.withMessageContaining("outside a saga");
	}

	@Test
	void undoesASagaWhoseStepWasNotRun() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).run(() -> this.log.add("a"));
			return this.saga.step("b").compensate(() -> this.log.add("undo b"));
		}));
		assertThat(this.log).containsExactly("a", "undo a");
	}

	@Test
	void haltsRatherThanCallAServiceThatMayHaveForgottenTheKey() {
		Supplier<Object> body = () -> this.saga.step("pay", String.class).run((key) -> {
			this.log.add("pay");
			throw new IllegalStateException("timeout");
		});
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> longCall(body));
		this.clock.advance(Duration.ofHours(13));
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> longCall(body));
		assertThat(this.log).containsExactly("pay");
		assertThat(find().reason()).contains("idempotent.saga.participant-retention");
	}

	@Test
	void releasesASagaThatAnotherVersionOfTheMethodDoesNotFit() {
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").run(() -> {
			});
			this.saga.step("b").run(() -> {
				throw new IllegalStateException("timeout");
			});
			return "";
		}));
		Supplier<Object> other = () -> "without steps";
		this.clock.advance(Duration.ofMinutes(1));
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(other));
		this.clock.advance(Duration.ofMinutes(1));
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(other));
	}

	private @Nullable Object call(Supplier<? extends @Nullable Object> body) throws Throwable {
		return call(LambdaSaga.of(body));
	}

	private @Nullable Object longCall(Supplier<? extends @Nullable Object> body) throws Throwable {
		return call(new LambdaSaga("checkout", Duration.ofDays(2), body));
	}

	private @Nullable Object call(LambdaSaga definition) throws Throwable {
		return this.process.engine()
			.call(definition, this.id, Samples.fingerprint("order"), "[]".getBytes(StandardCharsets.UTF_8));
	}

	private dev.idempotent.saga.SagaSnapshot find() {
		return this.process.engine().find(this.id).orElseThrow();
	}

}
