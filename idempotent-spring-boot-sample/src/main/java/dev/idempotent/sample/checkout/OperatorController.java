package dev.idempotent.sample.checkout;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Lets the visitor of the page decide about a halted checkout.
 */
@RestController
@RequestMapping("/api/checkout/{id}")
class OperatorController {

	private final HaltedCheckouts halted;

	OperatorController(HaltedCheckouts halted) {
		this.halted = halted;
	}

	@PostMapping("/retry")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void retry(@PathVariable String id) {
		require(this.halted.retry(id));
	}

	@PostMapping("/skip")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void skip(@PathVariable String id, @Valid @RequestBody Skip skip) {
		require(this.halted.skip(id, skip.step(), skip.note()));
	}

	private static void require(boolean continued) {
		if (!continued) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "This checkout is not halted.");
		}
	}

	/**
	 * A step that was undone by hand.
	 *
	 * @param step the name of the step
	 * @param note how it was undone
	 */
	record Skip(@NotBlank String step, @NotBlank String note) {

	}

}
