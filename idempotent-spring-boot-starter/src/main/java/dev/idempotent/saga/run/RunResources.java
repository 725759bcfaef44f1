package dev.idempotent.saga.run;

import dev.idempotent.saga.SagaObserver;

/**
 * What all runs of an engine share.
 *
 * @param store the journal of all sagas
 * @param transactions the transactions of steps
 * @param settings the settings
 * @param failures classifies exceptions
 * @param form the stored form of arguments and results
 * @param observers observe the sagas
 * @param unobserved warns of calls that nothing observes
 */
record RunResources(SagaStore store, StepTransactions transactions, SagaSettings settings, FailureClassifier failures,
		StoredForm form, SagaObserver observers, UnobservedCalls unobserved) {
}
