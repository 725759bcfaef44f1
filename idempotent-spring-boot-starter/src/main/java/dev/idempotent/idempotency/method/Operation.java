package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.claim.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;

/**
 * What holds for each run of an operation.
 *
 * @param terms what its annotation or its template asks for
 * @param codec keeps its results
 * @param asynchronous whether it returns a future
 * @param participation how its work relates to a transaction of its caller
 * @param transactions in which it runs, or {@code null} under a lease alone
 */
record Operation(OperationTerms terms, ResultCodec codec, boolean asynchronous, Participation participation,
		@Nullable IdempotencyTransactions transactions) {
}
