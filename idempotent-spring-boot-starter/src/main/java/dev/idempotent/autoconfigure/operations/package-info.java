/**
 * Auto-configuration for operating the outbox.
 */
@NullMarked
package dev.idempotent.autoconfigure.operations;

import org.jspecify.annotations.NullMarked;
