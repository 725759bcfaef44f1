package dev.idempotent.outbox.relay;

import java.util.List;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.relay.PublisherCircuit.Probe;

/**
 * Finds out whether what was unavailable is available again, apart from the workers that
 * deliver: it may take a time-out each time. A publisher that is unavailable as a whole
 * is tried in turn with topics that have not failed yet and with the one of those that
 * have that was not tried for the longest time.
 */
final class ProbeWorker implements RepeatingTask.Step {

	private static final long PATIENCE_MILLIS = 100;

	private final Backlog backlog;

	private final Deliveries deliveries;

	private final PublisherCircuit circuit;

	private final RelaySettings settings;

	private final StoreFailureLog access = new StoreFailureLog();

	private boolean triedOthers;

	ProbeWorker(Backlog backlog, Deliveries deliveries, PublisherCircuit circuit, RelaySettings settings) {
		this.backlog = backlog;
		this.deliveries = deliveries;
		this.circuit = circuit;
		this.settings = settings;
	}

	@Override
	public void run() throws InterruptedException {
		if (!this.access.attempt(this::probe)) {
			Thread.sleep(this.access.isFailing() ? Math.min(1000, this.settings.poll().toMillis()) : PATIENCE_MILLIS);
		}
	}

	private boolean probe() {
		Probe probe = this.circuit.nextProbe();
		if (probe == null) {
			return false;
		}
		if (probe.topic() == null) {
			Probe longest = this.circuit.longestUntried();
			List<LeasedEvent> others = (this.triedOthers && longest != null) ? List.of() : this.backlog.claimOfOthers();
			this.triedOthers = !others.isEmpty();
			if (this.triedOthers) {
				this.deliveries.probe(others);
				return true;
			}
			probe = (longest != null) ? longest : probe;
		}
		List<LeasedEvent> events = (probe.topic() != null) ? this.backlog.claimOf(probe) : List.of();
		if (events.isEmpty()) {
			this.circuit.rest(probe);
		}
		this.deliveries.probe(events);
		return true;
	}

}
