/**
 * Keeps idempotency keys in Redis, with one Lua script per operation. The only package of
 * idempotency that depends on Redis.
 */
@NullMarked
package dev.idempotent.idempotency.redis;

import org.jspecify.annotations.NullMarked;
