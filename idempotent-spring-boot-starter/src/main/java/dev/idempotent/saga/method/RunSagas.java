package dev.idempotent.saga.method;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.IdempotencyContext;

/**
 * The sagas that have the key of an idempotent run. Such a run can have one saga of a
 * name: another would be taken for its retry.
 */
final class RunSagas {

	private final Map<IdempotencyContext, Set<String>> answered = Collections.synchronizedMap(new WeakHashMap<>());

	/**
	 * Requires that the run has not got the result of this saga before. One that has
	 * failed can be called again.
	 * @throws IllegalStateException if it has
	 */
	void require(SagaCall call) {
		if (call.run() != null && answeredIn(call.run()).contains(call.saga().name())) {
			throw new IllegalStateException("The saga " + call.saga().method().describe()
					+ " is called twice in one @Idempotent run, so both would have its key. Set the argument that "
					+ "distinguishes them, such as key = \"#command.id\"");
		}
	}

	void answered(SagaCall call) {
		if (call.run() != null) {
			answeredIn(call.run()).add(call.saga().name());
		}
	}

	private Set<String> answeredIn(IdempotencyContext run) {
		return this.answered.computeIfAbsent(run, (unused) -> ConcurrentHashMap.newKeySet());
	}

}
