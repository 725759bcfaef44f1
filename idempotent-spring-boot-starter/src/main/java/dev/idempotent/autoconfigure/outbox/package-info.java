/**
 * Configures the outbox and the inbox.
 */
@NullMarked
package dev.idempotent.autoconfigure.outbox;

import org.jspecify.annotations.NullMarked;
