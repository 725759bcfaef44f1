package dev.idempotent.idempotency.web;

import java.time.Duration;

import dev.idempotent.idempotency.Guarantee;

/**
 * What holds for handlers whose annotation leaves it open.
 *
 * @param guarantee how strong the promise is
 * @param lease how long a claim holds without renewal
 * @param retention how long a response is replayed
 */
public record OperationDefaults(Guarantee guarantee, Duration lease, Duration retention) {
}
