package dev.idempotent.sample.rush;

import java.util.List;
import java.util.Map;

import dev.idempotent.sample.rush.RushTally.Percentiles;
import dev.idempotent.sample.rush.RushTally.Point;
import org.jspecify.annotations.Nullable;

/**
 * A rush as the shop shows it.
 *
 * @param rushId its id
 * @param item the item on sale
 * @param state how far it is
 * @param users the number of users
 * @param finished the number of users who have finished
 * @param answers the number of answers to requests for a unit, by kind
 * @param replayed the number of answers that were stored by an earlier request
 * @param perSecond how many requests were accepted or refused per second
 * @param series the same, second by second
 * @param verdict the verdict, or {@code null} until the rush is done and for naive sales
 */
record RushView(String rushId, String item, State state, int users, int finished, Map<String, Long> answers,
		long replayed, long perSecond, List<Point> series, Percentiles acceptedMillis, Percentiles refusedMillis,
		@Nullable Verdict verdict) {

	/**
	 * How far a rush is.
	 */
	enum State {

		/**
		 * Users are buying.
		 */
		RUNNING,

		/**
		 * All users have finished, and holds expire.
		 */
		SETTLING,

		/**
		 * There is a verdict, or none is to come.
		 */
		DONE

	}

}
