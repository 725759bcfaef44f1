package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.SimulatedProcess.Death;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Lets a process die at each moment at which it affects the world, and another one take
 * over.
 */
class SagaCrashTests {

	private static final byte[] ARGUMENTS = "[]".getBytes(StandardCharsets.UTF_8);

	private static final List<String> SERVICES = List.of("order", "stock", "payment", "mail");

	@ParameterizedTest
	@EnumSource
	void finishesOrUndoesASagaWhereverItsProcessDies(Ending ending) throws Throwable {
		int moments = new Attempt(ending).survive();
		assertThat(moments).isGreaterThan(15);
		for (int moment = 1; moment <= moments; moment++) {
			new Attempt(ending).dieAt(moment);
		}
	}

	@ParameterizedTest
	@EnumSource
	void finishesOrUndoesASagaWhereverTwoProcessesDie(Ending ending) throws Throwable {
		int moments = new Attempt(ending).survive();
		for (int first = 1; first <= moments; first++) {
			for (int second = 1; second <= moments; second += 3) {
				new Attempt(ending).dieAt(first, second);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void finishesOrUndoesASagaWhoseDeadlinePassesAfterADeath(Ending ending) throws Throwable {
		int moments = new Attempt(ending).survive();
		for (int moment = 1; moment <= moments; moment++) {
			new Attempt(ending).missTheDeadlineAfter(moment);
		}
	}

	/**
	 * How the body ends.
	 */
	enum Ending {

		RETURNS, THROWS, IS_REFUSED

	}

	private static final class Attempt {

		private final ManualClock clock = new ManualClock();

		private final InMemorySagaStore store = new InMemorySagaStore(this.clock, Duration.ZERO);

		private final Services services = new Services();

		private final IdempotencyKey id = Samples.key();

		private final Ending ending;

		Attempt(Ending ending) {
			this.ending = ending;
		}

		int survive() throws Throwable {
			SimulatedProcess process = new SimulatedProcess(this.store, 0, 20);
			check(call(process), "no death");
			return process.moments();
		}

		void dieAt(int... moments) throws Throwable {
			for (int moment : moments) {
				SimulatedProcess process = new SimulatedProcess(this.store, moment, 20);
				Object unused = call(process);
				this.clock.advance(SimulatedProcess.LEASE.plusSeconds(1));
			}
			check(call(new SimulatedProcess(this.store, 0, 20)), "death at " + Arrays.toString(moments));
		}

		void missTheDeadlineAfter(int moment) throws Throwable {
			Object unused = call(new SimulatedProcess(this.store, moment, 20));
			boolean begun = this.store.find(this.id) != null;
			this.clock.advance(Duration.ofMinutes(11));
			Object result = call(new SimulatedProcess(this.store, 0, 20));
			List<Integer> net = net();
			if (!begun || String.valueOf(result).startsWith("result")) {
				check(result, "death at " + moment);
			}
			else {
				assertThat(net.subList(0, 3)).as("death at " + moment + this.services.log()).containsExactly(0, 0, 0);
			}
		}

		private List<Integer> net() {
			return SERVICES.stream().map(this.services::net).toList();
		}

		private @Nullable Object call(SimulatedProcess process) throws Throwable {
			try {
				return process.engine()
					.call(LambdaSaga.of(body(process)), this.id, Samples.fingerprint("order"), ARGUMENTS);
			}
			catch (SagaCompensatedException ex) {
				return "compensated: " + ex.reason();
			}
			catch (Death | StepRefusedException ex) {
				return ex;
			}
		}

		private void check(@Nullable Object result, String moment) {
			List<Integer> net = net();
			if (this.ending == Ending.RETURNS) {
				assertThat(result).as(moment).isEqualTo("result of payment");
				assertThat(net).as(moment + this.services.log()).containsExactly(1, 1, 1, 1);
			}
			else {
				assertThat(result).as(moment).asString().startsWith("compensated: ");
				assertThat(net.subList(0, 3)).as(moment + this.services.log()).containsExactly(0, 0, 0);
			}
			assertThat(this.store.find(this.id)).as(moment)
				.satisfies((saga) -> assertThat(saga.status().isOpen()).isFalse());
		}

		private Supplier<Object> body(SimulatedProcess process) {
			SagaSteps saga = process.engine().steps();
			Function<Supplier<String>, String> calling = process::call;
			return () -> {
				int order = saga.step("order", Integer.class)
					.compensate((Integer number) -> this.services.change("order", -1))
					.runInTransaction(() -> process.call(() -> this.services.change("order", 1)));
				String held = saga.step("stock", String.class).cancel((key) -> process.call(() -> {
					this.services.cancel("stock", key);
					return "";
				})).run((key) -> calling.apply(() -> this.services.act("stock", key)));
				assertThat(held).isEqualTo("result of stock");
				String payment = saga.step("payment", String.class).compensate(() -> process.call(() -> {
					this.services.undo("payment", "undo");
					return "";
				})).run((key) -> calling.apply(() -> this.services.act("payment", key)));
				if (this.ending == Ending.THROWS) {
					throw new IllegalArgumentException("for order " + order);
				}
				saga.step("mail").run(() -> {
					if (this.ending == Ending.IS_REFUSED) {
						throw new StepRefusedException("no address");
					}
					String unused = calling.apply(() -> this.services.act("mail", "key"));
				});
				return payment;
			};
		}

	}

}
