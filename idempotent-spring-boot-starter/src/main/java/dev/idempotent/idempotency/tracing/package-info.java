/**
 * Traces of idempotent requests and calls with Micrometer.
 */
@NullMarked
package dev.idempotent.idempotency.tracing;

import org.jspecify.annotations.NullMarked;
