package dev.idempotent.idempotency.web.context;

import java.util.concurrent.CompletableFuture;

import org.springframework.scheduling.annotation.Async;

/**
 * Records the context of a method on another thread.
 */
class AsyncNotes {

	private final Sightings sightings;

	AsyncNotes(Sightings sightings) {
		this.sightings = sightings;
	}

	@Async
	CompletableFuture<Void> note(String place) {
		this.sightings.note(place);
		return CompletableFuture.completedFuture(null);
	}

}
