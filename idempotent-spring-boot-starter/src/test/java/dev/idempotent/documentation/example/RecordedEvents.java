package dev.idempotent.documentation.example;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

class RecordedEvents implements OutboxPublisher {

	private final List<SerializedEvent> events = new CopyOnWriteArrayList<>();

	@Override
	public String prefix() {
		return "redis-stream";
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> batch) {
		this.events.addAll(batch);
		return batch.stream().<Outcome>map((event) -> new Outcome.Delivered()).toList();
	}

	List<String> types() {
		return this.events.stream().map(SerializedEvent::type).toList();
	}

}
