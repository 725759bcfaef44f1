/**
 * Observes deliveries of stream entries with Micrometer's Observation API.
 */
@NullMarked
package dev.idempotent.stream.tracing;

import org.jspecify.annotations.NullMarked;
