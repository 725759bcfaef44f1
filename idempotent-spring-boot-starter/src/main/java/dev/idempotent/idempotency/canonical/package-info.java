/**
 * The canonical forms of values and of JSON documents: equal for equivalent ones,
 * different for all others.
 */
@NullMarked
package dev.idempotent.idempotency.canonical;

import org.jspecify.annotations.NullMarked;
