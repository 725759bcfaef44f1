/**
 * Publishes events to Kafka. The only package of the outbox that depends on Kafka.
 */
@NullMarked
package dev.idempotent.outbox.kafka;

import org.jspecify.annotations.NullMarked;
