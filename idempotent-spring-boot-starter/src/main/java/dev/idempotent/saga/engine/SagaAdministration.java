package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;

/**
 * Operations of operators on the sagas in the database of the application. Each operation
 * commits by itself and reads a limited number of rows.
 */
public interface SagaAdministration {

	/**
	 * Continues a halted saga in the status in which it was halted. Any instance can take
	 * it over at once, without attempts or unfit runs, and a former owner is fenced.
	 * @param id the id
	 * @return {@code false} if it is not halted
	 */
	boolean retry(IdempotencyKey id);

	/**
	 * Records that an operator has undone a step by hand, so that it is not undone when
	 * the saga continues. Fences a former owner. Can be repeated.
	 * @param id the id of a saga that was halted while {@link SagaStatus#COMPENSATING}
	 * @param step the name of a recorded step that is not undone
	 * @param note what the operator did, without personal data; cut after 1000 characters
	 * @return {@code false} if there is no such saga or step
	 */
	boolean skip(IdempotencyKey id, String step, String note);

	/**
	 * Lists sagas without their steps: open ones in the order in which they are due, and
	 * ended ones in reverse order of their end.
	 * @param status their status, or {@code null} for those that are open or halted
	 * @param name their name, or {@code null}; of each status, only the first 10,000 are
	 * searched for a name
	 * @param limit the largest number
	 * @return the sagas
	 */
	List<SagaSnapshot> list(@Nullable SagaStatus status, @Nullable String name, int limit);

	/**
	 * Counts the sagas that are open or halted.
	 * @param served the names that some instance serves
	 * @param limit how many sagas of each status are counted at most
	 * @return the numbers
	 */
	Counts count(Collection<String> served, int limit);

	/**
	 * The sagas that are open or halted.
	 *
	 * @param byStatus how many have each of these statuses
	 * @param unserved how many open ones have a name that is not served
	 * @param oldestDue how long the oldest due saga has waited for an owner; zero if none
	 * does
	 * @param exact whether there are no more than were counted
	 */
	record Counts(Map<SagaStatus, Integer> byStatus, int unserved, Duration oldestDue, boolean exact) {

		/**
		 * Copies the map.
		 */
		public Counts {
			byStatus = Map.copyOf(byStatus);
		}

	}

}
