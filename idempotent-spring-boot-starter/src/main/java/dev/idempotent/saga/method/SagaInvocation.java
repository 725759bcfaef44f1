package dev.idempotent.saga.method;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.engine.SagaDefinition;
import org.jspecify.annotations.Nullable;

/**
 * A call of a saga method.
 *
 * @param saga the saga
 * @param described the method, for messages
 * @param id the id
 * @param fingerprint the fingerprint of the arguments
 * @param arguments the arguments as they are stored
 * @param run the run whose key it has, or {@code null} if it has one of its own
 */
@SuppressWarnings("ArrayRecordComponent")
record SagaInvocation(SagaDefinition saga, String described, IdempotencyKey id, Fingerprint fingerprint,
		byte[] arguments, @Nullable IdempotencyContext run) {
}
