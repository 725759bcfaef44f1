package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * A publisher that stops at the first event of a key that is refused: one whose type
 * begins with {@code refused}, at its first attempt.
 */
final class OrderedPublisher implements OutboxPublisher {

	static final String TOPIC = "ordered:orders";

	final List<String> types = new CopyOnWriteArrayList<>();

	final List<Integer> batches = new CopyOnWriteArrayList<>();

	@Override
	public String prefix() {
		return "ordered";
	}

	@Override
	public boolean keepsOrder() {
		return true;
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		this.batches.add(events.size());
		Set<@Nullable String> stopped = new HashSet<>();
		List<Outcome> outcomes = new ArrayList<>();
		for (SerializedEvent event : events) {
			if (event.type().startsWith("refused") && event.attempts() == 1) {
				stopped.add(event.key());
			}
			if (stopped.contains(event.key())) {
				outcomes.add(new Outcome.Retry("Refused", null));
			}
			else {
				this.types.add(event.type());
				outcomes.add(new Outcome.Delivered());
			}
		}
		return outcomes;
	}

}
