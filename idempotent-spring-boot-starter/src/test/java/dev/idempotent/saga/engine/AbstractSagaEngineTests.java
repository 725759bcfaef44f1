package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaSteps;
import org.jspecify.annotations.Nullable;

/**
 * A process that runs sagas on a store in memory.
 */
abstract class AbstractSagaEngineTests {

	final ManualClock clock = new ManualClock();

	final InMemorySagaStore store = new InMemorySagaStore(this.clock, Duration.ZERO);

	final SimulatedProcess process = new SimulatedProcess(this.store, 0, 2);

	final SagaSteps saga = this.process.engine().steps();

	final Services services = new Services();

	final IdempotencyKey id = Samples.key();

	final List<String> log = new ArrayList<>();

	final @Nullable Object call(Supplier<? extends @Nullable Object> body) throws Throwable {
		return call(LambdaSaga.of(body));
	}

	final @Nullable Object longCall(Supplier<? extends @Nullable Object> body) throws Throwable {
		return call(new LambdaSaga("checkout", Duration.ofDays(2), body));
	}

	final @Nullable Object call(LambdaSaga definition) throws Throwable {
		return this.process.engine()
			.call(definition, this.id, Samples.fingerprint("order"), "[]".getBytes(StandardCharsets.UTF_8));
	}

	final SagaSnapshot find() {
		return this.process.engine().find(this.id).orElseThrow();
	}

}
