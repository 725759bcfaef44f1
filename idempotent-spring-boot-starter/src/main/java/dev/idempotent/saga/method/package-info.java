/**
 * Sagas as methods of beans: their advice, their arguments and results as JSON, and the
 * call that starts one in the background.
 */
@NullMarked
package dev.idempotent.saga.method;

import org.jspecify.annotations.NullMarked;
