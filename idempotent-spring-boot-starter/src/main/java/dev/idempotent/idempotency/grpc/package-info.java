/**
 * gRPC: unary methods that run once per key, and calls that carry derived keys. Knows
 * gRPC's interceptors and no store.
 */
@NullMarked
package dev.idempotent.idempotency.grpc;

import org.jspecify.annotations.NullMarked;
