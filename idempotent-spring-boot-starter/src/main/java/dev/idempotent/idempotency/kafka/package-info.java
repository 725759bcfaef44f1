/**
 * Redelivery of Kafka records whose idempotency key is pending elsewhere.
 */
@NullMarked
package dev.idempotent.idempotency.kafka;

import org.jspecify.annotations.NullMarked;
