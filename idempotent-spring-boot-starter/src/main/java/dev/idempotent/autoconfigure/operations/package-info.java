/**
 * Endpoint, health indicator, and metrics.
 */
@NullMarked
package dev.idempotent.autoconfigure.operations;

import org.jspecify.annotations.NullMarked;
