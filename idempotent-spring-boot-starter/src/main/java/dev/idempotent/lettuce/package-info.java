/**
 * Dedicated Lettuce connections to the application's Redis servers, shared by
 * idempotency, outbox and stream.
 */
@NullMarked
package dev.idempotent.lettuce;

import org.jspecify.annotations.NullMarked;
