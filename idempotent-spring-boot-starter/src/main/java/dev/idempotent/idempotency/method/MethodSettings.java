package dev.idempotent.idempotency.method;

import java.time.Duration;

import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the runs of methods and code need.
 *
 * @param guard keeps the keys
 * @param namespace the application
 * @param defaults what holds where an annotation leaves it open
 * @param waitTimeout how long a duplicate is held where it waits
 * @param json writes and reads results, and writes arguments
 * @param transactionSource knows the transactions of methods, or {@code null} without a
 * database
 * @param attributes reads {@code @Transactional}; {@code null} if it has no effect
 */
public record MethodSettings(IdempotencyGuard guard, String namespace, OperationTerms defaults, Duration waitTimeout,
		JsonMapper json, @Nullable IdempotencyTransactionSource transactionSource,
		@Nullable TransactionAttributeSource attributes) {

	/**
	 * Leaves the names of types out of stored data, whatever the mapper does elsewhere.
	 */
	public MethodSettings {
		json = json.rebuild().deactivateDefaultTyping().build();
	}

}
