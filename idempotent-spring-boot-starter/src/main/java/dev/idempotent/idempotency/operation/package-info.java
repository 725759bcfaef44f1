/**
 * The settings of an operation as read from its {@code @Idempotent} annotation, validated
 * and with defaults applied.
 */
@NullMarked
package dev.idempotent.idempotency.operation;

import org.jspecify.annotations.NullMarked;
