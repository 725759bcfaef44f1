package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Observes idempotent requests and calls, and the store of their keys. All beans of this
 * type are called, on the threads of the requests and of the background work. They must
 * return quickly; what they throw is logged and ignored.
 */
public interface IdempotencyObserver {

	/**
	 * Called when a run has acquired its key, on its thread, before the work begins.
	 * @param operation the operation
	 * @param key the key
	 */
	default void runStarted(Operation operation, IdempotencyKey key) {
	}

	/**
	 * Called once for each request or call, when its outcome is known: for a run, when
	 * its key has been settled, which may be on another thread.
	 * @param decision what was decided
	 */
	default void decided(Decision decision) {
	}

	/**
	 * Called after each call of the store, and of the database that decides under
	 * {@link Guarantee#TRANSACTION}.
	 * @param store the name of the store
	 * @param verb the operation of the store
	 * @param result whether the store has answered
	 * @param took the duration of the call
	 */
	default void storeCalled(String store, StoreVerb verb, StoreResult result, Duration took) {
	}

	/**
	 * Called when leases of runs in progress have been renewed.
	 * @param leases the number of leases, at least 1
	 */
	default void leasesRenewed(int leases) {
	}

	/**
	 * Called when a run no longer owns its key although it is not settled: its lease has
	 * expired, and the work may run twice.
	 * @param key the key
	 */
	default void leaseLost(IdempotencyKey key) {
	}

	/**
	 * Called after each repeated attempt to settle a key, because the store did not
	 * answer when its run ended.
	 * @param verb {@link StoreVerb#COMPLETE} or {@link StoreVerb#RELEASE}
	 * @param result whether the store has answered
	 */
	default void settlementRetried(StoreVerb verb, StoreResult result) {
	}

	/**
	 * What runs once per key.
	 *
	 * @param kind how it is called
	 * @param name the name of the annotation, or class and method
	 * @param guarantee its guarantee, never {@link Guarantee#DEFAULT}
	 */
	record Operation(Kind kind, String name, Guarantee guarantee) {

		/**
		 * How operations are called.
		 */
		public enum Kind {

			/**
			 * A handler of HTTP requests.
			 */
			HTTP,

			/**
			 * A bean method.
			 */
			METHOD,

			/**
			 * A bean method with the annotation of a listener, such as
			 * {@code @RedisStreamListener} or {@code @KafkaListener}.
			 */
			LISTENER,

			/**
			 * The {@code IdempotencyTemplate}.
			 */
			TEMPLATE

		}

	}

	/**
	 * The end of one request or call.
	 *
	 * @param operation the operation
	 * @param key the key; {@code null} if the request was refused without one
	 * @param outcome the outcome
	 * @param took the time since the key was resolved, including the work of a run
	 * @param origin the run that made the replayed response; {@code null} if it is
	 * unknown or nothing was replayed
	 */
	record Decision(Operation operation, @Nullable IdempotencyKey key, Outcome outcome, Duration took,
			@Nullable RunOrigin origin) {
	}

	/**
	 * How a request or call ended.
	 */
	enum Outcome {

		/**
		 * It ran, and its response is stored.
		 */
		RUN,

		/**
		 * It ran, and only this fact is stored.
		 */
		RUN_NOT_KEPT,

		/**
		 * It ran while the store was unreachable, so a duplicate may have run, too.
		 */
		RUN_UNPROTECTED,

		/**
		 * It failed or its response is not stored: the key is free, and a retry runs.
		 */
		RELEASED,

		/**
		 * A stored response was replayed.
		 */
		REPLAYED,

		/**
		 * It was refused, because the response of the completed run is not stored.
		 */
		NOT_KEPT,

		/**
		 * It was refused, because the same work is running.
		 */
		IN_PROGRESS,

		/**
		 * It was refused, because its key was used for another request.
		 */
		MISMATCHED,

		/**
		 * It was refused before its key was claimed, such as for a malformed key.
		 */
		REFUSED,

		/**
		 * It was refused, because the store is unreachable.
		 */
		UNAVAILABLE,

		/**
		 * It was refused, because the store cannot use its key.
		 */
		FAILED,

		/**
		 * It ran, and whether its work was committed is unknown until the next claim.
		 */
		UNKNOWN

	}

	/**
	 * The operations of a store that are observed.
	 */
	enum StoreVerb {

		/**
		 * A claim.
		 */
		CLAIM,

		/**
		 * Storing a response.
		 */
		COMPLETE,

		/**
		 * Freeing a key.
		 */
		RELEASE,

		/**
		 * Renewing a lease.
		 */
		RENEW

	}

	/**
	 * How a call of a store ended.
	 */
	enum StoreResult {

		/**
		 * The store has answered.
		 */
		ANSWERED,

		/**
		 * The store was unreachable.
		 */
		UNAVAILABLE,

		/**
		 * The store could not use the key.
		 */
		FAILED

	}

}
