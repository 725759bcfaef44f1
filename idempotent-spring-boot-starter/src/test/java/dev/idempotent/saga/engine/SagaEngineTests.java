package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what a call of a saga answers.
 */
class SagaEngineTests extends AbstractSagaEngineTests {

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
	void continuesIfTheBodyCatchesARefusal() throws Throwable {
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

	/**
	 * A row that has another version now has it in the next attempt, too.
	 */
	@Test
	void isRefusedByATransientFailureThatItsTransactionNames() {
		AtomicInteger attempts = new AtomicInteger();
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").run(() -> {
			});
			this.saga.step("b").refusedWhen(OptimisticLockingFailureException.class).runInTransaction(() -> {
				attempts.incrementAndGet();
				throw new OptimisticLockingFailureException("The row has another version");
			});
			return "";
		}));
		assertThat(attempts).hasValue(1);
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

	/**
	 * A process that stops leaves the saga of a caller to another one.
	 */
	@Nested
	class StoppedProcess {

		private static final Duration LONG = Duration.ofHours(1);

		private final AtomicInteger takenOver = new AtomicInteger();

		private final SagaEngine engine = new SagaEngine(new InMemorySagaStore(new ManualClock(), Duration.ZERO),
				new NoTransactions(), new SagaSettings("process", LONG, LONG, 20, 1, Duration.ofMillis(500), LONG, LONG,
						Duration.ofHours(1), null),
				new FailureClassifier(), PayloadEncryption.NONE, List.of(new SagaObserver() {
					@Override
					public void takenOver(String name) {
						StoppedProcess.this.takenOver.incrementAndGet();
					}
				}));

		@Test
		void doesNotTakeOverWhatItReleases() {
			assertThatExceptionOfType(IdempotencyPendingException.class)
				.isThrownBy(() -> this.engine.call(LambdaSaga.of(this::body), Samples.key(),
						Samples.fingerprint("order"), "[]".getBytes(StandardCharsets.UTF_8)));
			assertThat(this.takenOver).hasValue(0);
		}

		private String body() {
			this.engine.steps().step("first").run(this.engine::close);
			this.engine.steps().step("second").run(() -> {
			});
			return "done";
		}

		private static final class NoTransactions implements PlatformTransactionManager {

			@Override
			public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
				throw new UnsupportedOperationException();
			}

			@Override
			public void commit(TransactionStatus status) {
				throw new UnsupportedOperationException();
			}

			@Override
			public void rollback(TransactionStatus status) {
				throw new UnsupportedOperationException();
			}

		}

	}

}
