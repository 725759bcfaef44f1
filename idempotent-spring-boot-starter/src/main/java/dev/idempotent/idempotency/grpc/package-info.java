/**
 * Sends derived idempotency keys with unary gRPC calls.
 */
@NullMarked
package dev.idempotent.idempotency.grpc;

import org.jspecify.annotations.NullMarked;
