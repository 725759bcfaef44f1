/**
 * The context that application code sees on every thread.
 */
@NullMarked
package dev.idempotent.idempotency.web.context;

import org.jspecify.annotations.NullMarked;
