package dev.idempotent.saga.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for how a saga is undone, and when it is halted.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagaUndoTests extends AbstractSagaEngineTests {

	@Test
	void undoesStepsInReverseOrderAndReplaysThat() {
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
	void logsTheFailureOfTheMethodWithItsStackTrace(CapturedOutput output) {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").runInTransaction(() -> this.log.add("a"));
			throw new IllegalStateException("a mistake");
		}));
		assertThat(output).contains("has failed, so the saga is undone")
			.contains("IllegalStateException: a mistake")
			.contains("SagaUndoTests.java");
	}

	@Test
	void undoesASagaWhoseFailureThrowsWhenItsMessageIsRead(CapturedOutput output) {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).runInTransaction(() -> this.log.add("a"));
			throw new UnreadableFailure();
		}));
		assertThat(this.log).containsExactly("a", "undo a");
		assertThat(output).contains("UnreadableFailure, whose message throws").contains("SagaUndoTests.java");
	}

	@Test
	void takesAnotherPathAfterAFailureThatThrowsWhenItsMessageIsRead() throws Throwable {
		call(() -> {
			try {
				this.saga.step("a").runInTransaction(() -> {
					throw new UnreadableFailure();
				});
			}
			catch (StepRefusedException ex) {
				this.saga.step("b").runInTransaction(() -> this.log.add("b"));
			}
			return null;
		});
		assertThat(this.log).containsExactly("b");
	}

	@Test
	void logsWhatMistakeWasMadeWithSteps(CapturedOutput output) {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").runInTransaction(() -> this.log.add("a"));
			return this.saga.step("b");
		}));
		assertThat(output).contains("has failed, so the saga is undone")
			.contains("The step 'b' was created, but not run");
	}

	@Test
	void logsTheFailureOfAStepInATransactionUnlessItRefuses(CapturedOutput output) {
		assertThatExceptionOfType(SagaCompensatedException.class)
			.isThrownBy(() -> call(() -> this.saga.step("a", String.class).runInTransaction(() -> {
				throw new IllegalArgumentException("no such column");
			})));
		assertThat(output)
			.contains("has failed and counts as refused: java.lang.IllegalArgumentException: no such column");
	}

	@Test
	void logsARefusalNeitherAsAFailureOfTheMethodNorOfTheStep(CapturedOutput output) {
		assertThatExceptionOfType(SagaCompensatedException.class)
			.isThrownBy(() -> call(() -> this.saga.step("a", String.class).runInTransaction(() -> {
				throw new StepRefusedException("sold out");
			})));
		assertThat(output).doesNotContain("has failed and counts as refused").doesNotContain("so the saga is undone");
	}

	@Test
	void logsThatASagaIsRepeatedOnceAndThatItIsUndone(CapturedOutput output) {
		Supplier<Object> body = () -> {
			this.saga.step("a").run(() -> {
				throw new IllegalStateException("timeout");
			});
			return "never";
		};
		for (int i = 0; i < 2; i++) {
			this.clock.advance(Duration.ofMinutes(2));
			assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(body));
		}
		this.clock.advance(Duration.ofMinutes(2));
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(body));
		assertThat(output.getOut().split("cannot go on for now and is repeated", -1)).hasSize(2);
		assertThat(output).contains("is undone after 2 attempts: The outcome of the step 'a' is unknown: "
				+ "java.lang.IllegalStateException");
	}

	@Test
	void logsThatAFailedActionMadeNoCallUnderTheKeyThatItsCancellationNames(CapturedOutput output) {
		assertThatExceptionOfType(IdempotencyPendingException.class)
			.isThrownBy(() -> call(() -> this.saga.step("a").cancel(() -> this.log.add("cancel")).run(() -> {
				throw new IllegalStateException("400");
			})));
		assertThat(output).contains("The outcome of the step 'a' is unknown: ",
				"No call carried the key of the step: if it called its service, list that in idempotent.client.targets");
	}

	@Test
	void rollsBackAStepWhoseResultCannotBeReadBack() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).runInTransaction(() -> this.log.add("a"));
			return this.saga.step("b", Runnable.class).runInTransaction(() -> new Unreadable(1));
		}));
		assertThat(this.log).containsExactly("a", "undo a");
	}

	@Test
	void haltsAtOnceIfTheResultOfACallCannotBeReadBack() {
		assertThatExceptionOfType(SagaHaltedException.class)
			.isThrownBy(() -> call(() -> this.saga.step("b", Runnable.class).run(() -> new Unreadable(1))));
		assertThat(find().reason())
			.isEqualTo("The result of the step 'b' cannot be read back from JSON as " + Runnable.class.getName());
	}

	@Test
	void haltsRatherThanCallAServiceThatMayHaveForgottenTheKey() {
		Supplier<Object> body = () -> this.saga.step("pay", String.class)
			.compensate((payment) -> this.log.add("refund"))
			.run((key) -> {
				this.log.add("pay");
				throw new IllegalStateException("timeout");
			});
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> longCall(body));
		this.clock.advance(Duration.ofHours(13));
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> longCall(body));
		assertThat(this.log).containsExactly("pay");
		assertThat(find().reason()).contains("idempotent.saga.participant-retention");
		assertThat(this.store.retry(this.id)).isTrue();
		assertThat(find().status()).isEqualTo(SagaStatus.COMPENSATING);
	}

	/**
	 * The operator does not wait for the call in progress, whose effect is undone, too.
	 */
	@Test
	void undoesASagaThatAnOperatorHasAbortedWhileItRuns() {
		Supplier<Object> body = () -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).run(() -> {
				this.log.add("a");
				assertThat(this.store.abort(this.id, "wrong price")).isTrue();
			});
			this.saga.step("b").run(() -> this.log.add("b"));
			return "never";
		};
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> longCall(body))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo("An operator has aborted the saga: wrong price"));
		assertThat(this.log).containsExactly("a", "undo a");
	}

	@Test
	void undoesTheOthersIfAStepThatNeedsNoUndoIsForgotten() {
		Supplier<Object> body = () -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).runInTransaction(() -> this.log.add("a"));
			this.saga.step("mail").run(() -> {
				throw new IllegalStateException("timeout");
			});
			return "";
		};
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> longCall(body));
		this.clock.advance(Duration.ofHours(13));
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> longCall(body));
		assertThat(this.log).containsExactly("a", "undo a");
	}

	@Test
	void doesNotRepeatACancellationPastTheAgeOfItsAction() {
		Supplier<Object> body = () -> {
			this.saga.step("hold").cancel((key) -> {
				this.log.add("cancel");
				throw new IllegalStateException("timeout");
			}).run((key) -> {
				throw new StepRefusedException("no stock");
			});
			return "";
		};
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> longCall(body));
		this.clock.advance(Duration.ofHours(13));
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> longCall(body));
		assertThat(this.log).containsExactly("cancel");
	}

	/**
	 * The hold is cancelled at the first attempt to undo the saga, although the charge
	 * behind it is settled by a later one. What needs the result of another step waits.
	 */
	@Test
	void cancelsStepsBehindOneOfUnknownOutcome() {
		AtomicInteger charges = new AtomicInteger();
		Supplier<Object> body = () -> {
			this.saga.step("order").compensate(() -> this.log.add("reject")).runInTransaction(() -> {
			});
			this.saga.step("hold", String.class).cancel((key) -> this.log.add("release")).run((key) -> key);
			this.saga.step("seat").compensate(() -> this.log.add("free")).run(() -> {
			});
			this.saga.step("points", String.class).cancel((key) -> this.log.add("revoke")).run((key) -> key);
			this.saga.step("charge").compensate(() -> this.log.add("refund")).run(() -> {
				if (charges.incrementAndGet() < 5) {
					throw new IllegalStateException("timeout");
				}
			});
			throw new UnsupportedOperationException("Undo");
		};
		attempt(body, () -> !this.log.isEmpty());
		assertThat(this.log).containsExactly("revoke", "release");
		attempt(body, () -> find().status() == SagaStatus.COMPENSATED);
		assertThat(this.log).containsExactly("revoke", "release", "refund", "free", "reject");
	}

	@Test
	void cancelsStepsBehindARefusedUndoOnce() {
		Supplier<Object> body = () -> {
			this.saga.step("hold", String.class).cancel((key) -> this.log.add("release")).run((key) -> key);
			this.saga.step("charge").compensate(() -> {
				throw new StepRefusedException("not refundable");
			}).run(() -> {
			});
			throw new UnsupportedOperationException("Undo");
		};
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(body));
		assertThat(this.log).containsExactly("release");
		assertThat(find().steps()).extracting("state").containsExactly(StepState.COMPENSATED, StepState.DONE);
	}

	private void attempt(Supplier<Object> body, BooleanSupplier until) {
		for (int i = 0; i < 50 && !until.getAsBoolean(); i++) {
			this.clock.advance(Duration.ofMinutes(1));
			try {
				longCall(body);
			}
			catch (IdempotencyPendingException | SagaCompensatedException ex) {
				// The journal tells.
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}
		assertThat(until.getAsBoolean()).isTrue();
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

	@Test
	void doesNotUndoASagaWhoseMethodFailsBeforeARecordedStep() {
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).run(() -> this.log.add("a"));
			this.saga.step("b").run(() -> {
				throw new IllegalStateException("timeout");
			});
			return "";
		}));
		this.clock.advance(Duration.ofMinutes(1));
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(() -> {
			throw new IllegalStateException("a bean is missing");
		}));
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
		assertThat(this.log).containsExactly("a");
	}

	@Test
	void releasesAStartedSagaThatFailsWhileItsProcessStops() {
		this.process.engine().close();
		Supplier<Object> body = () -> {
			throw new IllegalStateException("a bean is gone");
		};
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> call(body));
		NewSaga started = new NewSaga(SagaOwner.first(this.id), "checkout", SagaStatus.STARTED, "other",
				Samples.fingerprint("order"), new byte[] { 1 }, null, Duration.ZERO, Duration.ofMinutes(10));
		assertThat(this.store.insert(started, List.of())).isTrue();
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(body));
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void haltsAtOnceIfAnActionUsesAnotherStep(boolean caught) {
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(() -> {
			SagaStep<Void> inner = this.saga.step("inner");
			this.saga.step("outer").run(() -> {
				this.log.add("outer");
				use(caught, () -> inner.run(() -> this.log.add("inner")));
			});
			return "";
		}));
		assertThat(this.log).containsExactly("outer");
		assertThat(find().reason()).contains("The step 'inner' is used within another step");
		assertThat(find().steps()).extracting("state").containsExactly(StepState.ACTING);
	}

	@Test
	void haltsAtOnceIfAnActionCreatesAStepOrCallsASaga() {
		for (Supplier<?> use : List.<Supplier<?>>of(() -> this.saga.step("inner"), this::callAnother)) {
			assertThatExceptionOfType(SagaHaltedException.class)
				.isThrownBy(() -> this.process.engine().call(LambdaSaga.of(() -> {
					this.saga.step("outer").run(() -> {
						Object unused = use.get();
					});
					return "";
				}), Samples.key(), Samples.fingerprint("order"), new byte[] { 1 }));
		}
	}

	private Object callAnother() {
		try {
			return String.valueOf(this.process.engine()
				.call(LambdaSaga.of(() -> ""), Samples.key(), Samples.fingerprint("other"), new byte[] { 1 }));
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new AssertionError(ex);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void undoesASagaWhoseTransactionUsesAnotherStep(boolean caught) {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").compensate(() -> this.log.add("undo a")).run(() -> this.log.add("a"));
			this.saga.step("outer").runInTransaction(() -> use(caught, () -> this.saga.step("inner").run(() -> {
			})));
			return "";
		}));
		assertThat(this.log).containsExactly("a", "undo a");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void haltsAtOnceIfAnUndoUsesAStep(boolean caught) {
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> call(() -> {
			SagaStep<Void> created = this.saga.step("notify");
			this.saga.step("a")
				.compensate(() -> use(caught, () -> created.run(() -> this.log.add("notify"))))
				.run(() -> this.log.add("a"));
			throw new StepRefusedException("no");
		}));
		assertThat(this.log).containsExactly("a");
		assertThat(find().reason()).contains("The step 'notify' is used in an undo");
	}

	private static void use(boolean caught, Runnable step) {
		try {
			step.run();
		}
		catch (Throwable ex) {
			if (!caught) {
				throw ex;
			}
		}
	}

	@Test
	void doesNotTakeARefusedWriteForTheDeadline() {
		SagaStore refusing = (SagaStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { SagaStore.class }, (proxy, method, arguments) -> method.getName().equals("write")
						? (Object) false : method.invoke(this.store, arguments));
		SagaEngine engine = new SimulatedProcess(refusing, 0, 2).engine();
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> engine.call(LambdaSaga.of(() -> {
			engine.steps().step("a").compensate(() -> this.log.add("undo a")).run(() -> this.log.add("a"));
			engine.steps().step("b").run(() -> this.log.add("b"));
			return "";
		}), this.id, Samples.fingerprint("order"), new byte[] { 1 }));
		assertThat(this.log).containsExactly("a");
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
	}

	@Test
	void refusesAStepOnAnotherThread() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("a").run(() -> {
			});
			SagaStep<Void> step = this.saga.step("b");
			return CompletableFuture.supplyAsync(() -> {
				step.run(() -> this.log.add("b"));
				return "";
			}).join();
		}));
		assertThat(this.log).isEmpty();
	}

	private record Unreadable(int value) implements Runnable {

		@Override
		public void run() {
		}

	}

	private static final class UnreadableFailure extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("There is no message");
		}

	}

}
