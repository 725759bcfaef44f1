package dev.idempotent.autoconfigure.test.slice;

import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
class BookingController {

	private final AtomicInteger runs = new AtomicInteger();

	@PostMapping("/bookings")
	@Idempotent(name = "book", guarantee = Guarantee.TRANSACTION)
	String book() {
		return "run " + this.runs.incrementAndGet();
	}

	@PostMapping("/cancellations")
	@Cancels("book")
	@Idempotent(name = "cancel", guarantee = Guarantee.TRANSACTION)
	String cancel() {
		return "cancelled";
	}

	@PostMapping("/failures")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	String fail() {
		throw new ResponseStatusException(HttpStatus.INTERNAL_SERVER_ERROR, "run " + this.runs.incrementAndGet());
	}

	@PostMapping("/refusals")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	String refuse() {
		throw new ResponseStatusException(HttpStatus.NOT_FOUND, "run " + this.runs.incrementAndGet());
	}

	@PostMapping("/refusals/leased")
	@Idempotent
	String refuseUnderLease() {
		return refuse();
	}

	@PostMapping("/seats")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	String seat(@RequestParam int row) {
		return "row " + row;
	}

	@PostMapping("/seats/leased")
	@Idempotent
	String seatUnderLease(@RequestParam int row) {
		return seat(row);
	}

	int runs() {
		return this.runs.get();
	}

}
