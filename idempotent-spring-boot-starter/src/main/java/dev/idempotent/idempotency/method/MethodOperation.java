package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.claim.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * The configuration that all runs of an annotated method or of a template share.
 *
 * @param settings the settings of the annotation or the template
 * @param kind how the work is called
 * @param codec writes and reads results
 * @param asynchronous whether the work returns a future
 * @param participation how the work participates in a transaction of its caller
 * @param transactions the transactions of {@code Guarantee.TRANSACTION}, or {@code null}
 * under a lease alone
 */
record MethodOperation(OperationSettings settings, Kind kind, ResultCodec codec, boolean asynchronous,
		Participation participation, @Nullable IdempotencyTransactions transactions) {

	/**
	 * Describes the operation to observers.
	 */
	IdempotencyObserver.Operation observed() {
		return this.settings.observed(this.kind);
	}

	/**
	 * How work participates in a transaction of its caller.
	 */
	enum Participation {

		/**
		 * It commits or rolls back with the transaction.
		 */
		JOINED,

		/**
		 * As {@link #JOINED}, but work that fails rolls back to a savepoint.
		 */
		NESTED,

		/**
		 * It commits before the transaction does, and remains if that is rolled back.
		 */
		INDEPENDENT;

		/**
		 * Derives the participation of a method from its own {@code @Transactional}.
		 * @param attribute its attributes; {@code null} if it has none
		 */
		static Participation of(@Nullable TransactionAttribute attribute) {
			return switch ((attribute != null) ? attribute.getPropagationBehavior()
					: TransactionDefinition.PROPAGATION_REQUIRED) {
				case TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
						TransactionDefinition.PROPAGATION_NEVER ->
					INDEPENDENT;
				case TransactionDefinition.PROPAGATION_NESTED -> NESTED;
				default -> JOINED;
			};
		}

	}

}
