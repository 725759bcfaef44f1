package dev.idempotent.stream;

import java.time.Duration;
import java.util.function.Consumer;

import dev.idempotent.stream.StreamObservation.Scope;
import dev.idempotent.stream.StreamObserver.Outcome;
import dev.idempotent.stream.StreamObserver.ProcessedEntry;
import org.jspecify.annotations.Nullable;

/**
 * One observed delivery. Its outcome is {@link Outcome#REDELIVERED} unless another one is
 * set.
 */
final class ObservedEntry {

	private final Consumer<Runnable> caller;

	private final Consumer<ProcessedEntry> observers;

	private final ConsumerGroup group;

	private final long deliveries;

	private final @Nullable Scope scope;

	private final long started = System.nanoTime();

	private Outcome outcome = Outcome.REDELIVERED;

	/**
	 * Creates an observed delivery.
	 * @param caller calls the scope and handles what it throws
	 * @param observers accepts the end of the delivery
	 */
	ObservedEntry(Consumer<Runnable> caller, Consumer<ProcessedEntry> observers, ConsumerGroup group, long deliveries,
			@Nullable Scope scope) {
		this.caller = caller;
		this.observers = observers;
		this.group = group;
		this.deliveries = deliveries;
		this.scope = scope;
	}

	void failed(Throwable failure) {
		if (this.scope != null) {
			this.caller.accept(() -> this.scope.failed(failure));
		}
	}

	void outcome(Outcome outcome) {
		this.outcome = outcome;
	}

	/**
	 * Closes the scope and notifies the observers.
	 */
	void end() {
		Duration took = Duration.ofNanos(System.nanoTime() - this.started);
		if (this.scope != null) {
			this.caller.accept(() -> this.scope.close(this.outcome));
		}
		this.observers.accept(new ProcessedEntry(this.group, this.outcome, this.deliveries, took));
	}

}
