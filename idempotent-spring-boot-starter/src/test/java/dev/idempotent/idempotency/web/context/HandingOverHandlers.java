package dev.idempotent.idempotency.web.context;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Idempotent;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Handlers that continue their work on another thread.
 */
@RestController
class HandingOverHandlers {

	private static final String ELSEWHERE = "elsewhere";

	private final Sightings sightings;

	private final AsyncNotes asyncNotes;

	private final AsyncTaskExecutor executor;

	HandingOverHandlers(Sightings sightings, AsyncNotes asyncNotes, AsyncTaskExecutor executor) {
		this.sightings = sightings;
		this.asyncNotes = asyncNotes;
		this.executor = executor;
	}

	@PostMapping("/over/async-method")
	@Idempotent
	String asyncMethod() {
		this.sightings.note("handler");
		this.asyncNotes.note(ELSEWHERE).join();
		return "done";
	}

	@PostMapping("/over/without-key")
	String asyncMethodWithoutKey() {
		this.asyncNotes.note(ELSEWHERE).join();
		return "done";
	}

	@PostMapping("/over/callable")
	@Idempotent
	Callable<String> callable() {
		this.sightings.note("handler");
		return this::noteElsewhere;
	}

	@PostMapping("/over/future")
	@Idempotent
	CompletableFuture<String> future() {
		this.sightings.note("handler");
		return CompletableFuture.supplyAsync(this::noteElsewhere, this.executor);
	}

	@PostMapping("/over/deferred")
	@Idempotent
	DeferredResult<String> deferred() {
		this.sightings.note("handler");
		DeferredResult<String> result = new DeferredResult<>();
		this.executor.execute(() -> result.setResult(noteElsewhere()));
		return result;
	}

	@PostMapping("/over/mono")
	@Idempotent
	Mono<String> mono() {
		this.sightings.note("handler");
		return Mono.just("a").publishOn(Schedulers.boundedElastic()).map((value) -> noteElsewhere());
	}

	@PostMapping("/over/blocked-mono")
	@Idempotent
	String blockedMono() {
		this.sightings.note("handler");
		return Mono.just("a")
			.publishOn(Schedulers.boundedElastic())
			.map((value) -> noteElsewhere())
			.blockOptional()
			.orElseThrow();
	}

	private String noteElsewhere() {
		this.sightings.note(ELSEWHERE);
		return "done";
	}

}
