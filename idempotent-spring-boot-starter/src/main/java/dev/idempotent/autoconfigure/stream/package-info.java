/**
 * Auto-configuration of the Redis stream listener container.
 */
@NullMarked
package dev.idempotent.autoconfigure.stream;

import org.jspecify.annotations.NullMarked;
