/**
 * The outbox's next engine in its smallest form: one table, one claim, and the row is the
 * lease. {@code docs/adr/0023-the-row-is-the-lease.md} explains it.
 */
@NullMarked
package dev.idempotent.outbox.engine;

import org.jspecify.annotations.NullMarked;
