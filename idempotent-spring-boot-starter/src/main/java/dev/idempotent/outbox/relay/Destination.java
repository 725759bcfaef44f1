package dev.idempotent.outbox.relay;

/**
 * The state of an unavailable topic. Guarded by its circuit.
 */
final class Destination {

	final ProbeBackoff backoff = new ProbeBackoff();

	long firstRow;

	long skippedRow;

	boolean logged;

	Destination(long firstRow) {
		this.firstRow = firstRow;
	}

}
