/**
 * The attributes of {@code @Idempotent}, for web handlers and other methods alike:
 * checked, and with the defaults filled in.
 */
@NullMarked
package dev.idempotent.idempotency.operation;

import org.jspecify.annotations.NullMarked;
