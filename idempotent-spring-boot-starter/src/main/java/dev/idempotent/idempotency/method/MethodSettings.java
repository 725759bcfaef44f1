package dev.idempotent.idempotency.method;

import java.time.Duration;

import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.tool.ToolCalls;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import tools.jackson.databind.json.JsonMapper;

/**
 * The settings of idempotent methods and of {@link IdempotencyTemplate}.
 *
 * @param engine claims keys
 * @param namespace the namespace of keys
 * @param defaults the defaults of attributes that an annotation leaves out
 * @param waitTimeout how long a duplicate waits under {@code OnPending.WAIT}
 * @param json writes and reads results
 * @param values compares arguments and results
 * @param transactionSource the transactions of {@code Guarantee.TRANSACTION}, or
 * {@code null} without a database
 * @param attributes reads {@code @Transactional}; {@code null} if it has no effect
 * @param tools the settings of the tools of agents; {@code null} without Spring AI
 */
public record MethodSettings(IdempotencyEngine engine, String namespace, OperationSettings defaults,
		Duration waitTimeout, JsonMapper json, CanonicalValues values,
		@Nullable IdempotencyTransactionSource transactionSource, @Nullable TransactionAttributeSource attributes,
		@Nullable ToolCalls tools) {

	/**
	 * Adapts the mapper to what is stored.
	 */
	public MethodSettings {
		json = StoredJson.mapper(json);
	}

}
