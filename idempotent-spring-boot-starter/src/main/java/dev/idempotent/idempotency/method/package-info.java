/**
 * Idempotency for the methods of beans, for message listeners and for code: one run and
 * one result per key.
 */
@NullMarked
package dev.idempotent.idempotency.method;

import org.jspecify.annotations.NullMarked;
