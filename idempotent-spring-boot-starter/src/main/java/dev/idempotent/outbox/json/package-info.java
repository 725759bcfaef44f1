/**
 * Writes payloads with Jackson.
 */
@NullMarked
package dev.idempotent.outbox.json;

import org.jspecify.annotations.NullMarked;
