package dev.idempotent.idempotency.operation;

import java.time.Duration;

import dev.idempotent.idempotency.Guarantee;

/**
 * What holds for methods whose annotation leaves it open.
 *
 * @param guarantee how strong the promise is
 * @param lease how long a claim holds without renewal
 * @param retention how long an answer is kept
 */
public record OperationDefaults(Guarantee guarantee, Duration lease, Duration retention) {
}
