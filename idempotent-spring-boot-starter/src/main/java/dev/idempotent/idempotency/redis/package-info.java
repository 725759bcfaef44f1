/**
 * Keeps keys in Redis, one Lua script per verb. The only package of the first promise
 * that knows Redis.
 */
@NullMarked
package dev.idempotent.idempotency.redis;

import org.jspecify.annotations.NullMarked;
