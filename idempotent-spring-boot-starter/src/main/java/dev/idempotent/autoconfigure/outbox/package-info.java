/**
 * Auto-configuration of the outbox.
 */
@NullMarked
package dev.idempotent.autoconfigure.outbox;

import org.jspecify.annotations.NullMarked;
