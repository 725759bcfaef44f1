/**
 * Publishes events to Redis Streams and channels. The only package of the outbox that
 * depends on Redis.
 */
@NullMarked
package dev.idempotent.outbox.redis;

import org.jspecify.annotations.NullMarked;
