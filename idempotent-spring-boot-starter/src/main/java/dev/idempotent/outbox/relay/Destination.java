package dev.idempotent.outbox.relay;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The state of an unavailable topic. Guarded by its circuit.
 */
final class Destination {

	final ProbeBackoff backoff = new ProbeBackoff();

	/**
	 * Keys with ordered events to probe with.
	 */
	final Set<Long> keys = new LinkedHashSet<>();

	long firstRow;

	long skippedRow;

	boolean logged;

	Destination(long firstRow) {
		this.firstRow = firstRow;
	}

}
