/**
 * The message relay of the outbox: delivers events that were handed over at commit, and
 * the backlog.
 */
@NullMarked
package dev.idempotent.outbox.relay;

import org.jspecify.annotations.NullMarked;
