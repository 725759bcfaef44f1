package dev.idempotent.sample.sale;

import java.net.URI;
import java.util.Locale;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

/**
 * Why the sale refuses a request. A {@code 409} is not stored, so that a repeated request
 * is decided again; what is final has a status that is stored.
 */
enum Refusal {

	ALREADY_ON_SALE(HttpStatus.CONFLICT, "This item is on sale already."),

	NOT_ON_SALE(HttpStatus.CONFLICT, "This item is not on sale."),

	SOLD_OUT(HttpStatus.CONFLICT, "All units are taken. One may be released: try again later."),

	LIMIT_REACHED(HttpStatus.CONFLICT, "You have as many units as the sale allows for one user."),

	ALREADY_ORDERED(HttpStatus.CONFLICT, "The unit belongs to an order."),

	RESERVATION_ENDED(HttpStatus.GONE, "The reservation has ended. Reserve again with a new key."),

	RESERVATION_MISMATCHED(HttpStatus.CONFLICT,
			"This key has reserved a unit of another item or for another user, and that reservation counts. "
					+ "Use another key only for a second reservation."),

	SALE_UNKNOWN(HttpStatus.NOT_FOUND, "No sale has this item."),

	RESERVATION_UNKNOWN(HttpStatus.NOT_FOUND, "No reservation has this id."),

	UNAVAILABLE(HttpStatus.SERVICE_UNAVAILABLE,
			"The shop cannot reach its stock for now. Repeat the request with the same key."),

	TOO_MANY_REQUESTS(HttpStatus.TOO_MANY_REQUESTS,
			"The shop is too busy and has not read this request. Repeat it with the same key.");

	private final HttpStatus status;

	private final String detail;

	Refusal(HttpStatus status, String detail) {
		this.status = status;
		this.detail = detail;
	}

	HttpStatus status() {
		return this.status;
	}

	/**
	 * The body of the response, with a type that clients can branch on.
	 */
	ProblemDetail problem() {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(this.status, this.detail);
		String name = name().toLowerCase(Locale.ROOT).replace('_', '-');
		problem.setType(URI.create("urn:problem-type:flash-sale:" + name));
		return problem;
	}

	SaleRefusedException exception() {
		return new SaleRefusedException(this);
	}

}
