/**
 * A consumer that dies again and again, and what its events have come to.
 */
@NullMarked
package dev.idempotent.idempotency.kafka.kill;

import org.jspecify.annotations.NullMarked;
