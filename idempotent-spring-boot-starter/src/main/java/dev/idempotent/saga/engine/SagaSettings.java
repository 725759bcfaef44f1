package dev.idempotent.saga.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

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
 * @param stepTimeout how long a call of a step may take, unless the step states that
 * @param workersPerName how many of the workers sagas of one name may have; {@code null}
 * for half of them, or for all if there is one name
 */
public record SagaSettings(String process, Duration lease, Duration maxRun, int attempts, int workers,
		Duration waitTimeout, Duration retention, Duration participantRetention, Duration stepTimeout,
		@Nullable Integer workersPerName) {

	/**
	 * Returns how many workers all sagas together may have whose names are slow.
	 */
	int workersOfSlow() {
		return (this.workers + 1) / 2;
	}

	/**
	 * Returns how many workers the sagas of one name may have.
	 * @param names how many names there are
	 */
	int workersPerName(int names) {
		Integer stated = this.workersPerName;
		return (stated != null) ? stated : (names > 1) ? (this.workers + 1) / 2 : this.workers;
	}

}
