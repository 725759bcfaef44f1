package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaWaitingException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests for methods whose next version has other steps, while sagas of the last one are
 * open.
 */
class SagaVersionTests extends AbstractSagaEngineTests {

	@Test
	void areTakenByNewSagas() throws Throwable {
		waits(this::after);
		signal();
		assertThat(call(this::after)).isEqualTo("result of book");
		assertThat(this.services.log()).containsExactly("hold+", "insure+", "print+", "book+");
		assertThat(find().steps()).extracting(SagaSnapshot.Step::name)
			.containsExactly("hold", "insurance", "insure", "paid", "printing", "print", "book");
	}

	@Test
	void keepTheStepsOfOpenSagasBehindWhichTheyAre() throws Throwable {
		waits(this::before);
		signal();
		assertThat(call(this::after)).isEqualTo("result of book");
		assertThat(this.services.log()).containsExactly("hold+", "print+", "book+");
	}

	@Test
	void areRecorded() throws Throwable {
		waits(() -> {
			assertThat(this.saga.version("change", 2)).isEqualTo(2);
			return this.saga.await("paid").arrivesWithin(Duration.ofMinutes(1));
		});
		signal();
		assertThat(call(() -> {
			int recorded = this.saga.version("change", 3);
			this.saga.await("paid").within(Duration.ofMinutes(1));
			return recorded;
		})).isEqualTo(2);
	}

	@Test
	void areRecordedBeforeTheFirstStepAndWithoutOne() throws Throwable {
		assertThat(call(() -> {
			int version = this.saga.version("change", 1);
			this.saga.step("order").runInTransaction(() -> this.log.add("order"));
			return version;
		})).isEqualTo(1);
		assertThat(find().steps()).extracting(SagaSnapshot.Step::name).containsExactly("change", "order");
	}

	@Test
	void areUndoneOverAsTheyWereRun() {
		waits(this::before);
		this.clock.advance(Duration.ofMinutes(1));
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(this::after));
		assertThat(this.log).containsExactly("undo hold");
	}

	@Test
	void areAskedForOnce() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			int first = this.saga.version("change", 1);
			return first + this.saga.version("change", 1);
		}));
		assertThatIllegalArgumentException().isThrownBy(() -> call(() -> this.saga.version("change", 0)))
			.withMessageContaining("must be at least 1");
	}

	private String act(String step) {
		return this.saga.step(step, String.class)
			.compensate((String done) -> this.log.add("undo " + step))
			.run((key) -> this.services.act(step, key));
	}

	private void waits(Supplier<?> body) {
		assertThat(
				Objects.requireNonNull(catchThrowableOfType(SagaWaitingException.class, () -> call(body))).waitsFor())
			.isEqualTo("paid");
	}

	private void signal() {
		this.process.engine().signal(this.id, "paid", SagaSamples.bytes("null"), Samples.fingerprint("paid"));
	}

	private Object before() {
		act("hold");
		this.saga.await("paid").within(Duration.ofMinutes(1));
		return act("book");
	}

	private Object after() {
		act("hold");
		if (this.saga.version("insurance", 1) >= 1) {
			act("insure");
		}
		this.saga.await("paid").within(Duration.ofMinutes(1));
		if (this.saga.version("printing", 3) >= 3) {
			act("print");
		}
		return act("book");
	}

}
