package dev.idempotent.points;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/points")
class PointsController {

	private static final int MOST_POINTS = 100;

	private final Accounts accounts;

	PointsController(Accounts accounts) {
		this.accounts = accounts;
	}

	/**
	 * Credits an account. Refuses more than 100 points at once.
	 */
	@PostMapping("/credits")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	@Idempotent(name = "credit", guarantee = Guarantee.TRANSACTION)
	void credit(@RequestBody Credit credit) {
		if (credit.points() > MOST_POINTS) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "Credits have at most 100 points.");
		}
		this.accounts.credit(credit);
	}

	/**
	 * Cancels a credit, if it was given.
	 */
	@PostMapping("/cancellations")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@Cancels("credit")
	void cancel(@RequestBody Cancellation cancellation) {
		this.accounts.cancel(cancellation.orderId());
	}

	@GetMapping("/accounts/{account}")
	Balance balance(@PathVariable String account) {
		return this.accounts.balance(account);
	}

}
