/**
 * What an {@code @Idempotent} annotation asks for, wherever it stands: checked, and with
 * the defaults filled in.
 */
@NullMarked
package dev.idempotent.idempotency.operation;

import org.jspecify.annotations.NullMarked;
