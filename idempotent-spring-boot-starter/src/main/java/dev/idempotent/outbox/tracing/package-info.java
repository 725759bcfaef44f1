/**
 * Propagates traces with events. The only package of the outbox that uses Micrometer
 * Tracing.
 */
@NullMarked
package dev.idempotent.outbox.tracing;

import org.jspecify.annotations.NullMarked;
