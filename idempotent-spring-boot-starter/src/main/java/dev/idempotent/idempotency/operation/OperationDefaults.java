package dev.idempotent.idempotency.operation;

import java.time.Duration;

import dev.idempotent.idempotency.Guarantee;

/**
 * The defaults of attributes that an annotation leaves out.
 *
 * @param guarantee the guarantee
 * @param lease how long a claim holds without renewal
 * @param retention how long a response is stored
 */
public record OperationDefaults(Guarantee guarantee, Duration lease, Duration retention) {
}
