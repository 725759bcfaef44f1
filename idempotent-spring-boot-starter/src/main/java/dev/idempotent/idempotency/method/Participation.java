package dev.idempotent.idempotency.method;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * How the work of an operation relates to a transaction of its caller.
 */
enum Participation {

	/**
	 * It is committed or rolled back with it.
	 */
	JOINS,

	/**
	 * The same, and work that fails is rolled back by itself, to a savepoint.
	 */
	NESTS,

	/**
	 * It ends before the caller's transaction does, and stays when that is rolled back.
	 */
	APART;

	/**
	 * Reads a method's own {@code @Transactional}.
	 * @param attribute its attributes; {@code null} if it has none
	 */
	static Participation of(@Nullable TransactionAttribute attribute) {
		return switch ((attribute != null) ? attribute.getPropagationBehavior()
				: TransactionDefinition.PROPAGATION_REQUIRED) {
			case TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
					TransactionDefinition.PROPAGATION_NEVER ->
				APART;
			case TransactionDefinition.PROPAGATION_NESTED -> NESTS;
			default -> JOINS;
		};
	}

}
