package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A step takes effect only after the method has reached all recorded steps, in the order
 * in which they were recorded.
 */
class SagaFitTests extends AbstractSagaEngineTests {

	private final AtomicInteger runs = new AtomicInteger();

	private final List<Exception> outcomes = new ArrayList<>();

	@Test
	void doesNotRepeatAnEffectUnderANameThatDiffersInEachRun() throws Throwable {
		Supplier<Object> body = () -> {
			act("order");
			unanswered("pay-" + this.runs.incrementAndGet());
			return "";
		};
		repeat(6, body);
		assertThat(this.log).containsExactly("order", "pay-1");
		assertThat(find().status()).isEqualTo(SagaStatus.HALTED);
		assertThat(find().reason()).contains("'pay-3' in place of the recorded step 'pay-1'");
	}

	@Test
	void doesNotRunAnotherPathThanTheRecordedOne() throws Throwable {
		repeat(6, () -> {
			act("order");
			if (this.runs.incrementAndGet() > 1) {
				act("invoice");
				return "by invoice";
			}
			act("pay");
			unanswered("ship");
			return "";
		});
		assertThat(this.log).containsExactly("order", "pay", "ship");
		assertThat(find().status()).isEqualTo(SagaStatus.HALTED);
		assertThat(find().reason()).contains("'invoice' in place of the recorded step 'pay'");
	}

	@Test
	void doesNotGoOnBehindStepsInAnotherOrder() throws Throwable {
		repeat(6, () -> {
			boolean first = this.runs.incrementAndGet() == 1;
			act(first ? "a" : "b");
			act(first ? "b" : "a");
			if (first) {
				unanswered("c");
			}
			act("d");
			return "";
		});
		assertThat(this.log).containsExactly("a", "b", "c");
		assertThat(find().status()).isEqualTo(SagaStatus.HALTED);
	}

	@Test
	void leavesASagaToTheVersionThatFitsIfAnotherHasInsertedAStep() throws Throwable {
		Supplier<Object> former = () -> {
			act("a");
			answered("b");
			return "former";
		};
		Supplier<Object> later = () -> {
			act("a");
			act("inserted");
			answered("b");
			return "later";
		};
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(former));
		repeat(1, later);
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(call(former)).isEqualTo("former");
		assertThat(this.log).containsExactly("a", "b", "b");
	}

	@Test
	void runsAStepThatIsInsertedBehindAllRecordedOnes() throws Throwable {
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(() -> {
			answered("a");
			return "";
		}));
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(call(() -> {
			answered("a");
			act("added");
			return "later";
		})).isEqualTo("later");
		assertThat(this.log).containsExactly("a", "a", "added");
	}

	@Test
	void countsRunsThatDoNotFitOnTheirOwn() throws Throwable {
		AtomicInteger answers = new AtomicInteger();
		Supplier<Object> fits = () -> {
			act("a");
			for (int i = 1; i <= 3; i++) {
				this.saga.step("b" + i).run(() -> {
					if (answers.getAndDecrement() <= 0) {
						throw new IllegalStateException("timeout");
					}
				});
			}
			return "";
		};
		Supplier<Object> other = () -> {
			act("another");
			return "";
		};
		repeat(1, fits);
		repeat(1, other);
		repeat(1, fits);
		assertThat(find().status()).as("one attempt of two").isEqualTo(SagaStatus.EXECUTING);
		answers.set(1);
		repeat(1, fits);
		assertThat(find().attempts()).as("attempts after progress").isZero();
		repeat(1, other);
		assertThat(find().status()).isEqualTo(SagaStatus.HALTED);
		assertThat(this.log).containsExactly("a");
		assertThat(this.store.retry(this.id)).isTrue();
		repeat(1, other);
		assertThat(find().status()).isEqualTo(SagaStatus.EXECUTING);
	}

	@Test
	void storesNothingIfAClassIsMissingBeforeTheFirstStep() throws Throwable {
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(() -> call(() -> {
			throw new NoClassDefFoundError();
		}));
		assertThat(this.store.find(this.id)).isNull();
	}

	@Test
	void followsABranchOnARecordedRefusal() throws Throwable {
		Supplier<Object> body = () -> {
			try {
				this.saga.step("card").run(() -> {
					this.log.add("card");
					throw new StepRefusedException("declined");
				});
			}
			catch (StepRefusedException ex) {
				act("invoice");
			}
			answered("ship");
			return "shipped";
		};
		repeat(1, body);
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(call(body)).isEqualTo("shipped");
		assertThat(this.log).containsExactly("card", "invoice", "ship", "ship");
	}

	@Test
	void undoesNothingIfTheMethodTakesAnotherPathToWhatIsToBeUndone() throws Throwable {
		Supplier<Object> body = () -> {
			boolean first = this.runs.incrementAndGet() == 1;
			undoable("a");
			if (!first) {
				act("other");
			}
			undoable("b");
			unanswered("c");
			return "";
		};
		repeat(1, body);
		this.clock.advance(Duration.ofMinutes(11));
		repeat(5, body);
		assertThat(this.log).containsExactly("a", "b", "c");
		assertThat(find().status()).isEqualTo(SagaStatus.HALTED);
		assertThat(find().reason()).contains("'other' in place of the recorded step 'b'");
	}

	@Test
	void undoesASagaIfOnlyStepsThatNeedNoUndoAreNotReached() throws Throwable {
		Supplier<Object> body = () -> {
			undoable("a");
			unanswered("mail-" + this.runs.incrementAndGet());
			return "";
		};
		repeat(1, body);
		this.clock.advance(Duration.ofMinutes(11));
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(body));
		assertThat(this.log).containsExactly("a", "mail-1", "undo a");
		assertThat(find().steps()).extracting("state").containsExactly(StepState.COMPENSATED, StepState.ACTING);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a\uD83D", "\uDE00a", "a\u0000", "a\nb", "a\u007F", "a\u0085b", "a ", " a",
			"a\u2028", "a\u3000" })
	void refusesANameThatDatabasesChangeOrComparePadded(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> call(() -> {
			act(name);
			return "";
		})).withMessageContaining("name of a step");
		assertThat(this.log).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "a b", "\uD83D\uDE00", "größe-1", "在庫" })
	void acceptsOtherNames(String name) throws Throwable {
		assertThat(call(() -> {
			act(name);
			return "done";
		})).isEqualTo("done");
	}

	private void act(String step) {
		this.saga.step(step).run(() -> this.log.add(step));
	}

	private void undoable(String step) {
		this.saga.step(step).compensate(() -> this.log.add("undo " + step)).run(() -> this.log.add(step));
	}

	private void unanswered(String step) {
		this.saga.step(step).run(() -> {
			this.log.add(step);
			throw new IllegalStateException("timeout");
		});
	}

	/**
	 * A step whose first call is not answered.
	 */
	private void answered(String step) {
		this.saga.step(step).run(() -> {
			this.log.add(step);
			if (this.log.stream().filter(step::equals).count() == 1) {
				throw new IllegalStateException("timeout");
			}
		});
	}

	/**
	 * Calls the saga as often as given, later each time.
	 */
	private void repeat(int times, Supplier<? extends @Nullable Object> body) throws Throwable {
		for (int i = 0; i < times; i++) {
			this.clock.advance(Duration.ofSeconds(20));
			try {
				Object unused = call(body);
			}
			catch (IdempotencyPendingException | SagaHaltedException ex) {
				this.outcomes.add(ex);
			}
		}
	}

}
