package dev.idempotent.outbox.relay;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Events that may themselves be the reason why their destination seemed unavailable, such
 * as one that is too large to be sent within a timeout: the first event of a batch that
 * got no response. Each is published alone, after the others.
 */
final class SuspectEvents {

	private static final int MAX_SIZE = 1000;

	private final Map<UUID, Suspect> suspects = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<UUID, Suspect> eldest) {
			return size() > MAX_SIZE;
		}

	};

	synchronized boolean contains(SerializedEvent event) {
		return this.suspects.containsKey(event.id());
	}

	/**
	 * The events that are not suspects.
	 */
	synchronized List<SerializedEvent> othersOf(List<SerializedEvent> events) {
		return this.suspects.isEmpty() ? events : events.stream().filter((event) -> !contains(event)).toList();
	}

	/**
	 * Records the outcomes of a batch. The first event of each topic that got no response
	 * becomes a suspect. Each response is evidence against the suspects of its topic,
	 * until another event of the topic gets no response: then the destination may be at
	 * fault.
	 */
	synchronized void record(List<SerializedEvent> events, List<Outcome> outcomes) {
		Set<String> answered = new HashSet<>();
		Set<String> silent = new HashSet<>();
		for (int i = 0; i < events.size(); i++) {
			if (!(outcomes.get(i) instanceof Outcome.Unavailable)) {
				answered.add(events.get(i).topic());
				this.suspects.remove(events.get(i).id());
			}
			else if (!contains(events.get(i))) {
				silent.add(events.get(i).topic());
			}
		}
		this.suspects
			.replaceAll((id, suspect) -> answered.contains(suspect.topic()) ? suspect.withEvidence(true) : suspect);
		this.suspects
			.replaceAll((id, suspect) -> silent.contains(suspect.topic()) ? suspect.withEvidence(false) : suspect);
		Set<String> unanswered = new HashSet<>();
		for (int i = 0; i < events.size(); i++) {
			SerializedEvent event = events.get(i);
			if (outcomes.get(i) instanceof Outcome.Unavailable && unanswered.add(event.topic())) {
				this.suspects.put(event.id(), new Suspect(event.topic(), false));
			}
		}
	}

	/**
	 * Returns whether other events of the same topic got a response since this one got
	 * none.
	 */
	synchronized boolean hasEvidence(SerializedEvent event) {
		Suspect suspect = this.suspects.get(event.id());
		return suspect != null && suspect.evidence();
	}

	private record Suspect(String topic, boolean evidence) {

		Suspect withEvidence(boolean found) {
			return (this.evidence == found) ? this : new Suspect(this.topic, found);
		}

	}

}
