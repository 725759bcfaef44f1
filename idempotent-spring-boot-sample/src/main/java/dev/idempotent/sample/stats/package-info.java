/**
 * Counts rows, so that "exactly once" can be checked.
 */
@NullMarked
package dev.idempotent.sample.stats;

import org.jspecify.annotations.NullMarked;
