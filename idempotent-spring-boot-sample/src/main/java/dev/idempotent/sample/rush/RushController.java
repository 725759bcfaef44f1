package dev.idempotent.sample.rush;

import java.net.URI;
import java.util.Optional;

import dev.idempotent.sample.rush.RushPlan.Behaviour;
import jakarta.annotation.PreDestroy;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Starts a rush on this instance, one at a time, and shows its progress and the verdict.
 */
@RestController
class RushController {

	private final Rushes rushes;

	private final SaleAuditor auditor;

	private volatile @Nullable Rush rush;

	RushController(Rushes rushes, SaleAuditor auditor) {
		this.rushes = rushes;
		this.auditor = auditor;
	}

	@PostMapping("/api/rushes")
	synchronized ResponseEntity<Started> start(@Valid @RequestBody StartRush command) {
		if (this.rush != null && !this.rush.isDone()) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "A rush is running. Wait for its end.");
		}
		Rush started = Boolean.TRUE.equals(command.naive())
				? this.rushes.of(command.users(), command.stock(), Behaviour.RESERVE, true)
				: this.rushes.ofPeople(command.users(), command.stock(), command.perUser());
		started.open();
		this.rush = started;
		Thread thread = new Thread(started::run, "rush");
		thread.setDaemon(true);
		thread.start();
		return ResponseEntity.accepted()
			.location(URI.create("/api/rushes/" + started.id()))
			.body(new Started(started.id(), started.item()));
	}

	@GetMapping("/api/rushes/{id}")
	RushView get(@PathVariable String id) {
		return current().filter((rush) -> rush.id().equals(id))
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "This instance has no such rush."))
			.view();
	}

	@GetMapping("/api/flash-sales/{item}/verdict")
	Verdict verdict(@PathVariable String item) {
		if (!this.auditor.knows(item)) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "The item has no sale. Open one first.");
		}
		return current().filter((rush) -> rush.item().equals(item))
			.map(Rush::verdict)
			.orElseGet(() -> this.auditor.audit(item, null).verdict());
	}

	private Optional<Rush> current() {
		return Optional.ofNullable(this.rush);
	}

	@PreDestroy
	void stop() {
		current().ifPresent(Rush::close);
	}

	/**
	 * A request that starts a rush.
	 */
	record StartRush(@Min(1) @Max(100_000) int users, @Min(1) @Max(100_000) int stock, @Min(1) @Max(10) int perUser,
			@Nullable Boolean naive) {

	}

	/**
	 * The rush that was started.
	 */
	record Started(String rushId, String item) {

	}

}
