package dev.idempotent.outbox;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.IntConsumer;

/**
 * A broker in memory.
 */
public final class RecordingPublisher implements OutboxPublisher {

	public static final String TOPIC = "test:orders";

	private final List<SerializedEvent> published = new CopyOnWriteArrayList<>();

	private volatile Function<SerializedEvent, Outcome> behaviour = (event) -> new Outcome.Delivered();

	private volatile IntConsumer batches = (size) -> {
	};

	@Override
	public String prefix() {
		return "test";
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		this.batches.accept(events.size());
		return events.stream().map(this::publish).toList();
	}

	private Outcome publish(SerializedEvent event) {
		Outcome outcome = this.behaviour.apply(event);
		if (outcome instanceof Outcome.Delivered) {
			this.published.add(event);
		}
		return outcome;
	}

	/**
	 * Sets the outcome of each event from now on.
	 */
	public void answer(Function<SerializedEvent, Outcome> behaviour) {
		this.behaviour = behaviour;
	}

	/**
	 * Sets a consumer of the size of each batch from now on.
	 */
	public void watchBatches(IntConsumer watcher) {
		this.batches = watcher;
	}

	/**
	 * The events that the broker has received, in order of arrival.
	 */
	public List<SerializedEvent> published() {
		return this.published;
	}

	public List<String> types() {
		return this.published.stream().map(SerializedEvent::type).toList();
	}

}
