/**
 * Counts what has happened, so that anyone can check "exactly once".
 */
@NullMarked
package dev.idempotent.sample.stats;

import org.jspecify.annotations.NullMarked;
