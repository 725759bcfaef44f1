/**
 * Guarded transitions of rows: of many callers that move a row from the same state, one
 * succeeds.
 */
@NullMarked
package dev.idempotent.transition.jdbc;

import org.jspecify.annotations.NullMarked;
