package dev.idempotent.saga.engine;

import java.time.Duration;

/**
 * The settings of all sagas.
 *
 * @param process the random id of this process
 * @param lease how long a saga is owned without renewal
 * @param maxRun how long a lease is renewed without progress
 * @param attempts how often a saga is taken over without progress
 * @param workers how many sagas run in the background at the same time
 * @param waitTimeout how long a caller waits while its saga is repeated
 * @param retention how long an ended saga is kept
 * @param participantRetention how long services are certain to recognize a key
 */
public record SagaSettings(String process, Duration lease, Duration maxRun, int attempts, int workers,
		Duration waitTimeout, Duration retention, Duration participantRetention) {
}
