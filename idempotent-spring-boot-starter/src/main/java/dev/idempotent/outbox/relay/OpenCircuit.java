package dev.idempotent.outbox.relay;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A publisher or destination that is unavailable to this instance.
 *
 * @param publisher the prefix of the publisher
 * @param topic the topic, or {@code null} for the whole publisher
 * @param openFor how long it has been unavailable
 * @param nextProbe how long until the next event is sent to find out whether it is
 * available
 */
public record OpenCircuit(String publisher, @Nullable String topic, Duration openFor, Duration nextProbe) {
}
