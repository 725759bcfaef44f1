package dev.idempotent.sample.rush;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.idempotent.sample.rush.RushTally.Figures;
import org.jspecify.annotations.Nullable;

/**
 * A rush as the shop shows it.
 *
 * @param rushId its id
 * @param item the item on sale
 * @param state how far it is
 * @param users the number of users
 * @param figures what they were told
 * @param verdict the verdict, or {@code null} until the rush is done and for naive sales
 */
record RushView(String rushId, String item, State state, int users, @JsonUnwrapped Figures figures,
		@Nullable Verdict verdict) {

	/**
	 * How far a rush is: users buy, then holds expire and events arrive, then there is a
	 * verdict.
	 */
	enum State {

		RUNNING, SETTLING, DONE

	}

}
