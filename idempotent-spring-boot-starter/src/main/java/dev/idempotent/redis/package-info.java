/**
 * Connections to the application's Redis servers and scripts that run there, shared by
 * idempotency, outbox and stream.
 */
@NullMarked
package dev.idempotent.redis;

import org.jspecify.annotations.NullMarked;
