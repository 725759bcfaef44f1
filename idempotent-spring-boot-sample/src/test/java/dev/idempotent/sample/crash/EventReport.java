package dev.idempotent.sample.crash;

import java.util.List;
import java.util.stream.Collectors;

import dev.idempotent.sample.crash.EventCheck.Violation;

/**
 * The results about events since the site was opened.
 *
 * @param figures how many there were
 * @param broken the broken promises
 */
record EventReport(Figures figures, List<Violation> broken) {

	private static final int SHOWN_OF_A_KIND = 5;

	static final EventReport NONE = new EventReport(new Figures(0, 0, 0, 0, 0, 0, 0, 0, 0), List.of());

	boolean isClean() {
		return this.broken.isEmpty();
	}

	/**
	 * Counts the broken promises.
	 */
	Tally violations() {
		Tally tally = new Tally();
		this.broken.forEach((violation) -> tally.count(violation.kind()));
		return tally;
	}

	/**
	 * The first broken promises of each kind, or nothing.
	 */
	String details() {
		return this.broken.stream()
			.collect(Collectors.groupingBy(Violation::kind))
			.values()
			.stream()
			.flatMap((ofKind) -> ofKind.stream().limit(SHOWN_OF_A_KIND))
			.map((violation) -> violation.kind() + ": " + violation.detail() + System.lineSeparator())
			.collect(Collectors.joining());
	}

	@Override
	public String toString() {
		return """
				  events     %d committed: order.created %d · order.paid %d
				  stream     %d entries, %d of them of an event that was there before
				  consumer   brought %d, %d of them dropped as handled before · notifications %d
				  quiet      outbox empty %d ms after everything was up, all consumed after %d ms
				  violations of events %s
				""".formatted(this.figures.orders() + this.figures.payments(), this.figures.orders(),
				this.figures.payments(), this.figures.entries(), this.figures.entries() - this.figures.eventIds(),
				this.figures.brought(), this.figures.dropped(), this.figures.notifications(),
				this.figures.outboxMillis(), this.figures.consumerMillis(), violations());
	}

	/**
	 * How many there were.
	 *
	 * @param orders of orders that were committed
	 * @param payments of payments that were committed
	 * @param entries of entries in the stream
	 * @param eventIds of different events in the stream
	 * @param brought of calls of the consumer that have counted themselves
	 * @param dropped of those that found their event handled and had no effect
	 * @param notifications of notifications that the consumer has written
	 * @param outboxMillis the longest time until the outbox was empty
	 * @param consumerMillis the longest time until all was consumed
	 */
	record Figures(long orders, long payments, long entries, long eventIds, long brought, long dropped,
			long notifications, long outboxMillis, long consumerMillis) {

	}

}
