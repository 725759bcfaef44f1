/**
 * Delivers events: those handed over at their commit, and those that nobody has delivered
 * yet.
 */
@NullMarked
package dev.idempotent.outbox.relay;

import org.jspecify.annotations.NullMarked;
