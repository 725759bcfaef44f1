package dev.idempotent.idempotency.method;

import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs a step of a run, or returns its recorded result.
 */
final class StepExecutor {

	private final IdempotencyGuard guard;

	private final JsonMapper json;

	/**
	 * Creates an executor.
	 * @param guard claims the steps
	 * @param json writes and reads the results
	 */
	StepExecutor(IdempotencyGuard guard, JsonMapper json) {
		this.guard = guard;
		this.json = json;
	}

	@Nullable Object run(String name, JavaType type, Supplier<? extends @Nullable Object> work) {
		if (name.isBlank()) {
			throw new IllegalArgumentException("The name of a step must not be blank");
		}
		refuseTransaction(name);
		ResultCodec codec = ResultCodec.ofStep(name, this.json, type);
		Encoded encoded = new Encoded(codec, work);
		StoredResponse recorded = this.guard.step(name, encoded);
		if (encoded.failure != null) {
			throw encoded.failure;
		}
		// Read back in the first run, too, so that all runs see the same.
		return codec.decode(recorded);
	}

	private static void refuseTransaction(String name) {
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException("The step '" + name + "' was called in an open transaction, perhaps that "
					+ "of Guarantee.TRANSACTION: if it rolls back, the step is recorded although its work is lost. "
					+ "Call the step outside of a transaction, under Guarantee.LEASE, and let its work begin one");
		}
	}

	/**
	 * Work with its result in stored form. The work is done once its result is known, so
	 * that one that cannot be written must not free the step.
	 */
	private static final class Encoded implements Supplier<StoredResponse> {

		private final ResultCodec codec;

		private final Supplier<? extends @Nullable Object> work;

		private @Nullable IdempotencyResultException failure;

		Encoded(ResultCodec codec, Supplier<? extends @Nullable Object> work) {
			this.codec = codec;
			this.work = work;
		}

		@Override
		public StoredResponse get() {
			Object result = this.work.get();
			try {
				return this.codec.encode(result);
			}
			catch (IdempotencyResultException ex) {
				this.failure = ex;
				return StoredResponse.notKept();
			}
		}

	}

}
