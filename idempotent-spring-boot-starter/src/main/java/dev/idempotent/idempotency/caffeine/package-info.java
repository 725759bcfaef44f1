/**
 * Replays from this process's memory. The only package that depends on Caffeine.
 */
@NullMarked
package dev.idempotent.idempotency.caffeine;

import org.jspecify.annotations.NullMarked;
