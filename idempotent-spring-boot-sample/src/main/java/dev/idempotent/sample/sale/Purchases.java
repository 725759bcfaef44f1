package dev.idempotent.sample.sale;

import java.util.Objects;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.sample.order.Order;
import dev.idempotent.sample.order.Orders;
import dev.idempotent.sample.order.PlaceOrder;
import dev.idempotent.sample.stock.CancelOutcome;
import dev.idempotent.sample.stock.Reservation;
import dev.idempotent.sample.stock.ReservationState;
import dev.idempotent.sample.stock.Reservations;
import dev.idempotent.sample.stock.ReserveResult;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * What a buyer does with a unit: reserve it, then order or cancel it.
 */
@Service
class Purchases {

	private final Reservations reservations;

	private final Orders orders;

	Purchases(Reservations reservations, Orders orders) {
		this.reservations = reservations;
		this.orders = orders;
	}

	/**
	 * Reserves a unit. The id of the reservation is the digest of the idempotency key, so
	 * the primary key in PostgreSQL keeps a repeated request from a second unit even when
	 * Redis has lost the key.
	 */
	ReservedUnit reserve(String item, String userId) {
		String id = Objects.requireNonNull(IdempotencyContext.current()).key().digest();
		ReserveResult result = this.reservations.reserve(id, item, userId);
		return switch (result.outcome()) {
			case RESERVED, ALREADY_RESERVED -> ReservedUnit.of(Objects.requireNonNull(result.reservation()));
			case ENDED -> throw Refusal.RESERVATION_ENDED.exception();
			case MISMATCHED -> throw Refusal.RESERVATION_MISMATCHED.exception();
			case SOLD_OUT -> throw Refusal.SOLD_OUT.exception();
			case LIMIT_REACHED -> throw Refusal.LIMIT_REACHED.exception();
			case NOT_ON_SALE -> throw Refusal.NOT_ON_SALE.exception();
		};
	}

	/**
	 * Places the order of a held unit. If it is not held, the order is rolled back.
	 */
	@Transactional
	Order order(String id) {
		Reservation reservation = find(id);
		Order order = this.orders.place(new PlaceOrder(reservation.owner(), reservation.item(), 1, null));
		if (!this.reservations.confirm(id, order.orderId())) {
			boolean ordered = find(id).state() == ReservationState.CONFIRMED;
			throw (ordered ? Refusal.ALREADY_ORDERED : Refusal.RESERVATION_ENDED).exception();
		}
		return order;
	}

	/**
	 * Releases a held unit.
	 */
	CancelOutcome cancel(String id) {
		CancelOutcome outcome = this.reservations.cancel(id);
		return switch (outcome) {
			case CANCELLED, ALREADY_ENDED -> outcome;
			case CONFIRMED -> throw Refusal.ALREADY_ORDERED.exception();
			case UNKNOWN -> throw Refusal.RESERVATION_UNKNOWN.exception();
		};
	}

	Reservation find(String id) {
		return this.reservations.find(id).orElseThrow(Refusal.RESERVATION_UNKNOWN::exception);
	}

}
