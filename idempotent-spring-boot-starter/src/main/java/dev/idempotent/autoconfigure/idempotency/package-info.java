/**
 * Auto-configuration of {@code @Idempotent}.
 */
@NullMarked
package dev.idempotent.autoconfigure.idempotency;

import org.jspecify.annotations.NullMarked;
