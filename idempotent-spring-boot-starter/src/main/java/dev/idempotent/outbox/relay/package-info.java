/**
 * The message relay of the outbox: delivers events right after their commit, and finds
 * all others in their table.
 */
@NullMarked
package dev.idempotent.outbox.relay;

import org.jspecify.annotations.NullMarked;
