package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests for sagas that wait for signals and for time, and are cancelled.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagaWaitTests extends AbstractSagaEngineTests {

	private static final Duration LIMIT = Duration.ofMinutes(5);

	@Test
	void tellsTheCallerWhatItWaitsFor() {
		SagaWaitingException waiting = waits(this::booking);
		assertThat(waiting.waitsFor()).isEqualTo("paid");
		assertThat(waiting.id()).isEqualTo(this.id);
		assertThat(waiting.getRetryAfter()).isEqualTo(SimulatedProcess.LEASE);
		assertThat(waiting).hasMessageContainingAll("waits for 'paid'", "PT5M");
		assertThat(waits(this::booking).waitsFor()).isEqualTo("paid");
		SagaSnapshot.Waiting shown = Objects.requireNonNull(find().waiting());
		assertThat(Duration.between(shown.since(), shown.until())).isEqualTo(LIMIT);
		assertThat(this.services.log()).containsExactly("hold+");
	}

	@Test
	void goesOnWithTheSignal() throws Throwable {
		waits(this::booking);
		assertThat(signal("paid", "\"100\"")).isEqualTo(SignalResult.ACCEPTED);
		assertThat(call(this::booking)).isEqualTo("result of book 100");
		assertThat(this.services.log()).containsExactly("hold+", "book 100+");
		assertThat(find().steps()).extracting(SagaSnapshot.Step::name).containsExactly("hold", "paid", "book");
	}

	@Test
	void doesNotWaitForASignalThatIsThere() throws Throwable {
		signal("paid", "\"100\"");
		assertThat(call(this::booking)).isEqualTo("result of book 100");
	}

	@Test
	void isUndoneIfTheSignalDoesNotArriveInTime() {
		waits(this::booking);
		this.clock.advance(LIMIT);
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(this::booking))
			.withMessageContaining("The signal 'paid' did not arrive within PT5M");
		assertThat(this.log).containsExactly("release result of hold");
		assertThat(signal("paid", "\"100\"")).isEqualTo(SignalResult.TOO_LATE);
	}

	@Test
	void catchesThatTheSignalDidNotArrive() throws Throwable {
		Supplier<Object> body = () -> {
			try {
				return this.saga.await("paid", String.class).within(LIMIT);
			}
			catch (StepRefusedException ex) {
				return "unpaid";
			}
		};
		waits(body);
		this.clock.advance(LIMIT);
		assertThat(call(body)).isEqualTo("unpaid");
	}

	@Test
	void goesOnWithoutTheSignal() throws Throwable {
		Supplier<Object> body = () -> {
			Optional<String> approval = this.saga.await("approved", String.class).orEmptyAfter(LIMIT);
			boolean paid = this.saga.await("paid").arrivesWithin(LIMIT);
			return approval.orElse("nobody") + " " + paid;
		};
		waits(body);
		this.clock.advance(LIMIT);
		assertThat(waits(body).waitsFor()).isEqualTo("paid");
		signal("paid", "null");
		assertThat(call(body)).isEqualTo("nobody true");
	}

	@Test
	void sleeps() throws Throwable {
		Supplier<Object> body = () -> {
			this.saga.sleep("cooling-off", LIMIT);
			this.log.add("awake");
			this.saga.sleep("more", Duration.ofMinutes(4));
			return "rested";
		};
		assertThat(waits(body).waitsFor()).isEqualTo("cooling-off");
		assertThat(Objects.requireNonNull(find().waiting()).signal()).isFalse();
		this.clock.advance(LIMIT.minusMillis(1));
		waits(body);
		assertThat(this.log).isEmpty();
		this.clock.advance(Duration.ofMillis(1));
		assertThat(waits(body).waitsFor()).isEqualTo("more");
		this.clock.advance(Duration.ofMinutes(4));
		assertThat(call(body)).isEqualTo("rested");
	}

	@Test
	void doesNotCountWaitsAsAttempts() throws Throwable {
		waits(this::booking);
		for (int i = 0; i < 10; i++) {
			this.clock.advance(Duration.ofSeconds(1));
			waits(this::booking);
		}
		assertThat(find().attempts()).isZero();
		signal("paid", "\"100\"");
		assertThat(call(this::booking)).isEqualTo("result of book 100");
	}

	@Test
	void isUndoneByItsDeadlineWhileItWaits() {
		Supplier<Object> body = () -> {
			this.saga.step("hold", String.class)
				.compensate((String held) -> this.log.add("release " + held))
				.run((key) -> this.services.act("hold", key));
			this.saga.sleep("first", Duration.ofMinutes(6));
			this.saga.sleep("second", Duration.ofMinutes(6));
			return "late";
		};
		waits(body);
		this.clock.advance(Duration.ofMinutes(6));
		waits(body);
		this.clock.advance(Duration.ofMinutes(4));
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(body))
			.withMessageContaining(SagaRun.DEADLINE);
		assertThat(this.log).containsExactly("release result of hold");
	}

	@Test
	void isCancelledWhileItWaits() {
		waits(this::booking);
		assertThat(cancel()).contains(SagaStatus.COMPENSATING);
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(this::booking))
			.withMessageContaining("Cancelled: changed her mind");
		assertThat(this.log).containsExactly("release result of hold");
		assertThat(cancel()).contains(SagaStatus.COMPENSATED);
	}

	@Test
	void isCancelledWhileItsActionRuns() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("hold", String.class)
				.compensate((String held) -> this.log.add("release " + held))
				.run((key) -> {
					assertThat(cancel()).contains(SagaStatus.COMPENSATING);
					return this.services.act("hold", key);
				});
			return this.saga.step("book", String.class).run((key) -> this.services.act("book", key));
		})).withMessageContaining("Cancelled: changed her mind");
		assertThat(this.services.log()).containsExactly("hold+");
		assertThat(this.log).containsExactly("release result of hold");
	}

	@Test
	void isNotCancelledAfterItsEnd() throws Throwable {
		assertThat(cancel()).isEmpty();
		Object unused = call(() -> "done");
		assertThat(cancel()).contains(SagaStatus.COMPLETED);
		assertThat(call(() -> "again")).isEqualTo("done");
	}

	@Test
	void leavesABodyThatCatchesErrors() {
		waits(() -> {
			try {
				return this.saga.await("paid", String.class).within(LIMIT);
			}
			catch (Throwable ex) {
				return this.saga.step("book", String.class).run((key) -> this.services.act("book", key));
			}
		});
		assertThat(this.services.log()).isEmpty();
	}

	@Test
	void isReleasedByAVersionThatDoesNotWaitWhereItWaits() {
		waits(this::booking);
		signal("paid", "\"100\"");
		assertPending(() -> call(() -> {
			this.saga.step("hold", String.class)
				.compensate((String held) -> this.log.add("release " + held))
				.run((key) -> this.services.act("hold", key));
			return this.saga.step("paid", String.class).run((key) -> this.services.act("book", key));
		}));
		assertThat(this.services.log()).containsExactly("hold+");
	}

	@Test
	void hasALimitThatALaterVersionMayChange() throws Throwable {
		waits(this::booking);
		this.clock.advance(Duration.ofMinutes(5));
		Supplier<Object> patient = () -> {
			this.saga.step("hold", String.class)
				.compensate((String held) -> this.log.add("release " + held))
				.run((key) -> this.services.act("hold", key));
			return this.saga.await("paid", String.class).within(Duration.ofMinutes(8));
		};
		waits(patient);
		this.clock.advance(Duration.ofMinutes(2));
		signal("paid", "\"100\"");
		assertThat(call(patient)).isEqualTo("100");
	}

	@Test
	void refusesAWaitThatIsLongerThanItsTimeout() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> call(() -> this.saga.await("paid", String.class).within(Duration.ofDays(3))))
			.withMessageContainingAll("The wait for the signal 'paid' may last PT72H",
					"undone after PT10M: set a longer timeout of its @Saga");
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> call(() -> {
			this.saga.sleep("night", Duration.ZERO);
			return "slept";
		})).withMessageContaining("The sleep 'night' lasts PT0S, but must last longer than zero");
	}

	@Test
	void keepsInTheReasonOfTheSagaWhatWasWrong() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("hold", String.class).run((key) -> this.services.act("hold", key));
			return this.saga.await("paid", String.class).within(Duration.ofDays(3));
		})).withMessageContaining("set a longer timeout of its @Saga");
		assertThat(find().reason())
			.isEqualTo("java.lang.IllegalArgumentException: The wait for the signal 'paid' may last "
					+ "PT72H, but the saga checkout is undone after PT10M: set a longer timeout of its @Saga");
	}

	@Test
	void refusesAWaitWithoutALimit(CapturedOutput output) {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.step("hold", String.class).run((key) -> this.services.act("hold", key));
			Object forgotten = this.saga.await("paid", String.class);
			return String.valueOf(forgotten != null);
		}));
		assertThat(find().status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(output).contains("The wait for the signal 'paid' was created, but has no time: end it with within");
	}

	@Test
	void refusesAWaitWithinAStep(CapturedOutput output) {
		assertThatExceptionOfType(SagaCompensatedException.class)
			.isThrownBy(() -> call(() -> this.saga.step("hold", String.class)
				.runInTransaction(() -> this.saga.await("paid", String.class).within(LIMIT))));
		assertThat(output).contains("The wait for the signal 'paid' is used within another step");
		assertThat(signal("paid", "1")).isEqualTo(SignalResult.EARLY);
	}

	@Test
	void refusesTwoWaitsOfOneName() {
		signal("paid", "\"100\"");
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(() -> {
			this.saga.await("paid", String.class).within(LIMIT);
			return this.saga.await("paid", String.class).within(LIMIT);
		}));
	}

	@Test
	void refusesASignalWithAnInvalidName() {
		for (String name : List.of("", " paid", "pa\nid", "x".repeat(101))) {
			assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> signal(name, "1"));
		}
	}

	@Test
	void recordsWhatHasHappened() throws Throwable {
		waits(this::booking);
		assertThat(find().steps().get(1).state()).isEqualTo(StepState.ACTING);
		signal("paid", "\"100\"");
		Object unused = call(this::booking);
		assertThat(find().steps()).extracting(SagaSnapshot.Step::state).containsOnly(StepState.DONE);
		assertThat(find().waiting()).isNull();
	}

	private SagaWaitingException waits(Supplier<?> body) {
		return Objects.requireNonNull(catchThrowableOfType(SagaWaitingException.class, () -> call(body)));
	}

	private static void assertPending(ThrowingCallable call) {
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(call)
			.isNotInstanceOf(SagaWaitingException.class);
	}

	private SignalResult signal(String name, String json) {
		return this.process.engine()
			.signal(this.id, name, json.getBytes(StandardCharsets.UTF_8), Samples.fingerprint(json));
	}

	private Optional<SagaStatus> cancel() {
		return this.process.engine().cancel(this.id, "changed her mind");
	}

	private Object booking() {
		this.saga.step("hold", String.class)
			.compensate((String held) -> this.log.add("release " + held))
			.run((key) -> this.services.act("hold", key));
		String payment = this.saga.await("paid", String.class).within(LIMIT);
		return this.saga.step("book", String.class).run((key) -> this.services.act("book " + payment, key));
	}

}
