/**
 * Kafka's own server, in processes that can be killed, paused and started again with what
 * they have stored.
 */
@NullMarked
package dev.idempotent.testing.kafka;

import org.jspecify.annotations.NullMarked;
