/**
 * Propagation over HTTP: calls of an idempotent run carry keys that are derived from the
 * key of the run.
 */
@NullMarked
package dev.idempotent.idempotency.client;

import org.jspecify.annotations.NullMarked;
