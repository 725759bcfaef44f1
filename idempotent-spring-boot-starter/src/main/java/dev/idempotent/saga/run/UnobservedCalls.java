package dev.idempotent.saga.run;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.IdempotencyContext.Calls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns, once for each saga, of a step outside a transaction that has neither made a call
 * that was observed nor taken its key: if it calls a service, then without a key, and
 * whatever the service has responded.
 */
final class UnobservedCalls {

	private static final Logger logger = LoggerFactory.getLogger(UnobservedCalls.class);

	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Checks an action that has returned and has not taken its key.
	 */
	void check(String saga, String step, Calls calls) {
		if (calls.made() == 0 && this.warned.add(saga)) {
			logger.warn("The step '{}' of the saga {} has returned, and no call of it was observed: if it has called a "
					+ "service, then without a key and whatever the response was. Use a client with the interceptor "
					+ "(idempotent.client.targets) on the thread of the saga, or take the key and send it. Use "
					+ "runInTransaction for work in the database", step, saga);
		}
	}

}
