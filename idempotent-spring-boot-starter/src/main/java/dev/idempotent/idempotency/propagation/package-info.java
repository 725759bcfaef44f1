/**
 * Propagation of the context of a run to other threads, by Micrometer's context
 * propagation.
 */
@NullMarked
package dev.idempotent.idempotency.propagation;

import org.jspecify.annotations.NullMarked;
