package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

/**
 * A publisher of another broker, which is never slow.
 */
final class OtherPublisher implements OutboxPublisher {

	static final String TOPIC = "other:orders";

	private final List<String> types = new CopyOnWriteArrayList<>();

	@Override
	public String prefix() {
		return "other";
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		events.forEach((event) -> this.types.add(event.type()));
		return events.stream().<Outcome>map((event) -> new Outcome.Delivered()).toList();
	}

	List<String> types() {
		return this.types;
	}

}
