/**
 * Guarded transitions beside the bare update.
 */
@NullMarked
package dev.idempotent.benchmark.state;

import org.jspecify.annotations.NullMarked;
