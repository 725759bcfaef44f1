package dev.idempotent.saga.method;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.IdempotencyContext;

/**
 * The sagas that have the key of an idempotent run. Such a run can call a saga once: a
 * second call would have the same key and get the result of the first.
 */
final class SagasOfRun {

	private final Map<IdempotencyContext, Set<String>> answered = Collections.synchronizedMap(new WeakHashMap<>());

	/**
	 * Requires that this saga has not returned a result to the run before. A saga that
	 * has failed can be called again.
	 * @throws IllegalStateException if it has
	 */
	void require(SagaInvocation call) {
		if (call.run() != null && answeredIn(call.run()).contains(call.saga().name())) {
			throw new IllegalStateException("The saga " + call.described()
					+ " is called twice in one @Idempotent run, so both would have its key. Set the argument that "
					+ "distinguishes them, such as key = \"#command.id\"");
		}
	}

	void answered(SagaInvocation call) {
		if (call.run() != null) {
			answeredIn(call.run()).add(call.saga().name());
		}
	}

	private Set<String> answeredIn(IdempotencyContext run) {
		return this.answered.computeIfAbsent(run, (unused) -> ConcurrentHashMap.newKeySet());
	}

}
