/**
 * What becomes of a Kafka record whose listener was refused its key.
 */
@NullMarked
package dev.idempotent.idempotency.kafka;

import org.jspecify.annotations.NullMarked;
