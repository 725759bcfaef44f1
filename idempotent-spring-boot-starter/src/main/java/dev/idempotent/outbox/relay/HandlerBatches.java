package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.jdbc.ClaimedEvent;

/**
 * Lets a handler handle events together. If they fail, each half of them is tried, so
 * that an event that always fails does not keep the others from being handled. If there
 * is no time for that, each of the events that have failed together is unresolved until
 * it was handled: it is handled alone, so that its next failure is counted.
 */
final class HandlerBatches {

	private static final int MAX_UNRESOLVED = 10_000;

	private final EventHandler handler;

	private final Consumer<Throwable> failures;

	private final Map<List<Long>, Boolean> unresolved = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<List<Long>, Boolean> eldest) {
			return size() > MAX_UNRESOLVED;
		}

	};

	HandlerBatches(EventHandler handler, Consumer<Throwable> failures) {
		this.handler = handler;
		this.failures = failures;
	}

	/**
	 * Handles events of different lanes.
	 * @param sending whether there is time to begin
	 * @return the outcome of each, in the same order
	 */
	List<Outcome> handle(List<ClaimedEvent> claims, BooleanSupplier sending) {
		List<Outcome> outcomes = handle(claims, sending, new FailureStreak());
		synchronized (this.unresolved) {
			for (int i = 0; i < claims.size() && !this.unresolved.isEmpty(); i++) {
				if (outcomes.get(i) instanceof Outcome.Delivered) {
					this.unresolved.remove(claims.get(i).place());
				}
			}
		}
		return outcomes;
	}

	/**
	 * Whether the event with this row is to be handled alone.
	 */
	boolean isUnresolved(List<Long> row) {
		synchronized (this.unresolved) {
			return this.unresolved.containsKey(row);
		}
	}

	/**
	 * If events fail one by one, so would the rest.
	 */
	private List<Outcome> handle(List<ClaimedEvent> claims, BooleanSupplier sending, FailureStreak alone) {
		if (claims.isEmpty() || alone.isOutage() || !sending.getAsBoolean()) {
			return Collections.nCopies(claims.size(), BatchSettlement.NOT_SENT);
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

	private List<Outcome> handleHalves(List<ClaimedEvent> claims, List<Outcome> outcomes, List<Integer> failed,
			BooleanSupplier sending, FailureStreak alone) {
		List<Outcome> all = new ArrayList<>(outcomes);
		int middle = failed.size() / 2;
		for (List<Integer> half : List.of(failed.subList(0, middle), failed.subList(middle, failed.size()))) {
			List<Outcome> again = handle(half.stream().map(claims::get).toList(), sending, alone);
			for (int i = 0; i < half.size(); i++) {
				all.set(half.get(i), again.get(i));
			}
		}
		if (!sending.getAsBoolean()) {
			leaveUnresolved(failed.stream().map(claims::get).toList(), failed.stream().map(all::get).toList());
		}
		return all;
	}

	/**
	 * If none of the events that have failed together is found, those that were not
	 * handled since stay unresolved.
	 */
	private void leaveUnresolved(List<ClaimedEvent> claims, List<Outcome> outcomes) {
		synchronized (this.unresolved) {
			boolean found = outcomes.stream().anyMatch(Outcome.Retry.class::isInstance)
					|| claims.stream().anyMatch((claim) -> this.unresolved.containsKey(claim.place()));
			for (int i = 0; i < claims.size() && !found; i++) {
				if (outcomes.get(i) == BatchSettlement.NOT_SENT) {
					this.unresolved.put(claims.get(i).place(), true);
				}
			}
		}
	}

}
