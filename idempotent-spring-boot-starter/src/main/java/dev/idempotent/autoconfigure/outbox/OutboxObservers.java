package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.OutboxObserver;

/**
 * Notifies all observers of an application.
 */
record OutboxObservers(List<OutboxObserver> observers) implements OutboxObserver {

	@Override
	public void published(String publisher, BatchResult batch, Duration took) {
		this.observers.forEach((each) -> each.published(publisher, batch, took));
	}

	@Override
	public void delivered(String publisher, Duration sinceCommit) {
		this.observers.forEach((each) -> each.delivered(publisher, sinceCommit));
	}

	@Override
	public void unreceived(String publisher) {
		this.observers.forEach((each) -> each.unreceived(publisher));
	}

}
