/**
 * Sagas beside the same work by hand and another library.
 */
@NullMarked
package dev.idempotent.benchmark.saga;

import org.jspecify.annotations.NullMarked;
