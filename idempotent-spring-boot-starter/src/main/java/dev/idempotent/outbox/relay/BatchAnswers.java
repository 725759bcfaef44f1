package dev.idempotent.outbox.relay;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Which destinations of a batch gave a response.
 *
 * @param answered the topics with a response to at least one event
 * @param failed the other topics, in the order of their first events
 */
record BatchAnswers(Set<String> answered, Map<String, Failure> failed) {

	static BatchAnswers of(List<SerializedEvent> events, List<Outcome> outcomes) {
		Set<String> answered = new HashSet<>();
		Map<String, Failure> failed = new LinkedHashMap<>();
		for (int i = 0; i < events.size(); i++) {
			String topic = events.get(i).topic();
			if (outcomes.get(i) instanceof Outcome.Unavailable unavailable) {
				failed.putIfAbsent(topic, new Failure(unavailable, events.get(i).sequence()));
			}
			else {
				answered.add(topic);
			}
		}
		failed.keySet().removeAll(answered);
		return new BatchAnswers(answered, failed);
	}

	/**
	 * A topic without a response.
	 *
	 * @param outcome the outcome of its first event
	 * @param row the row of that event
	 */
	record Failure(Outcome.Unavailable outcome, long row) {
	}

}
