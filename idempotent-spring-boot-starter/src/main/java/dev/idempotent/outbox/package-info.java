/**
 * What commits gets delivered: events that an application appends in its own database
 * transaction, and that relays deliver at least once. Knows no store, broker or
 * framework.
 */
@NullMarked
package dev.idempotent.outbox;

import org.jspecify.annotations.NullMarked;
