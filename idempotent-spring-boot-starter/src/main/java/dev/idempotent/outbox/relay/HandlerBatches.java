package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.jdbc.EventTable.Claim;

/**
 * Lets a handler handle events together. If they fail, each half of them is tried, so
 * that an event that always fails does not keep the others from being handled.
 */
final class HandlerBatches {

	private final EventHandler handler;

	private final Consumer<Throwable> failures;

	HandlerBatches(EventHandler handler, Consumer<Throwable> failures) {
		this.handler = handler;
		this.failures = failures;
	}

	/**
	 * Handles events of different lanes.
	 * @param sending whether there is time to begin
	 * @return the outcome of each, in the same order
	 */
	List<Outcome> handle(List<Claim> claims, BooleanSupplier sending) {
		return handle(claims, sending, new FailureStreak());
	}

	/**
	 * If events fail one by one, so would the rest.
	 */
	private List<Outcome> handle(List<Claim> claims, BooleanSupplier sending, FailureStreak alone) {
		if (claims.isEmpty() || alone.isOutage() || !sending.getAsBoolean()) {
			return Collections.nCopies(claims.size(), Settlement.NOT_SENT);
		}
		List<Outcome> outcomes = this.handler.handleTogether(claims, this.failures);
		List<Integer> failed = IntStream.range(0, claims.size())
			.filter((i) -> outcomes.get(i) instanceof Outcome.Retry)
			.boxed()
			.toList();
		if (failed.size() == 1) {
			boolean unused = alone.add(claims.get(failed.get(0)).lane());
		}
		if (outcomes.stream().anyMatch(Outcome.Delivered.class::isInstance)) {
			alone.end();
		}
		return (failed.size() > 1) ? handleHalves(claims, outcomes, failed, sending, alone) : outcomes;
	}

	private List<Outcome> handleHalves(List<Claim> claims, List<Outcome> outcomes, List<Integer> failed,
			BooleanSupplier sending, FailureStreak alone) {
		List<Outcome> all = new ArrayList<>(outcomes);
		int middle = failed.size() / 2;
		for (List<Integer> half : List.of(failed.subList(0, middle), failed.subList(middle, failed.size()))) {
			List<Outcome> again = handle(half.stream().map(claims::get).toList(), sending, alone);
			for (int i = 0; i < half.size(); i++) {
				all.set(half.get(i), again.get(i));
			}
		}
		return all;
	}

}
