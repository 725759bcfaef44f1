package dev.idempotent.saga.method;

import java.util.Optional;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.run.SagaEngine;
import org.jspecify.annotations.Nullable;

/**
 * Runs the calls of saga methods, or starts them in the background.
 */
public final class SagaCalls implements Sagas {

	private final SagaEngine engine;

	private final SagasOfRun runs = new SagasOfRun();

	/**
	 * Creates the calls of an engine.
	 * @param engine runs sagas
	 */
	public SagaCalls(SagaEngine engine) {
		this.engine = engine;
	}

	@Override
	public IdempotencyKey start(Runnable call) {
		SagaInvocation captured = CallCapture.of(call);
		this.runs.require(captured);
		IdempotencyKey id = this.engine.start(captured.saga(), captured.id(), captured.fingerprint(),
				captured.arguments());
		this.runs.answered(captured);
		return id;
	}

	@Override
	public Optional<SagaSnapshot> find(IdempotencyKey id) {
		return this.engine.find(id);
	}

	@Nullable Object run(SagaInvocation call) throws Throwable {
		this.runs.require(call);
		Object result = this.engine.call(call.saga(), call.id(), call.fingerprint(), call.arguments());
		this.runs.answered(call);
		return result;
	}

}
