package dev.idempotent.outbox.relay;

import java.util.List;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.relay.PublisherCircuit.Probe;

/**
 * Probes whether an unavailable publisher or destination is available again. Separate
 * from the delivering workers, because each probe may take a timeout. An unavailable
 * publisher is probed alternately with topics that have not failed and with the
 * unavailable topic that has not been probed for the longest time.
 */
final class ProbeWorker implements RepeatingTask.Step {

	private static final long PAUSE_MILLIS = 100;

	private final Backlog backlog;

	private final BatchDelivery delivery;

	private final OrderedDelivery ordered;

	private final PublisherCircuit circuit;

	private final SuspectEvents suspects;

	private final WakeUp wakeUp;

	private final RelaySettings settings;

	private final StoreFailureLog.Worker failureLog;

	private boolean probedOthers;

	ProbeWorker(Backlog backlog, BatchDelivery delivery, OrderedDelivery ordered, PublisherCircuit circuit,
			SuspectEvents suspects, WakeUp wakeUp, RelaySettings settings, StoreFailureLog.Worker failureLog) {
		this.backlog = backlog;
		this.delivery = delivery;
		this.ordered = ordered;
		this.circuit = circuit;
		this.suspects = suspects;
		this.wakeUp = wakeUp;
		this.settings = settings;
		this.failureLog = failureLog;
	}

	@Override
	public void run() throws InterruptedException {
		if (!this.failureLog.attempt(this::probe)) {
			this.wakeUp.await(this.failureLog.isFailing() ? Math.min(1000, this.settings.pollInterval().toMillis())
					: PAUSE_MILLIS);
		}
	}

	private boolean probe() {
		Probe probe = this.circuit.nextProbe();
		if (probe == null) {
			return false;
		}
		if (probe.topic() != null) {
			probeTopic(probe);
		}
		else {
			probePublisher(probe);
		}
		return true;
	}

	private void probePublisher(Probe publisher) {
		Probe topic = this.circuit.longestUnprobed();
		List<LeasedEvent> others = (this.probedOthers && topic != null) ? List.of() : this.backlog.claimOfOthers();
		this.probedOthers = !others.isEmpty();
		if (this.probedOthers) {
			BatchSettlement unused = this.delivery.probe(others);
		}
		else if (topic != null) {
			probeTopic(topic);
		}
		else {
			this.circuit.awaitEvent(publisher);
		}
	}

	private void probeTopic(Probe topic) {
		List<LeasedEvent> events = this.backlog.claimOf(topic);
		if (events.isEmpty()) {
			if (topic.topic() == null || !this.ordered.probe(topic.topic())) {
				this.circuit.awaitEvent(topic);
			}
			return;
		}
		BatchSettlement unused = this.delivery.probe(events);
		if (events.stream().map(LeasedEvent::event).allMatch(this.suspects::contains)) {
			this.circuit.probeBehind(topic, events.get(events.size() - 1).event().sequence());
		}
	}

}
