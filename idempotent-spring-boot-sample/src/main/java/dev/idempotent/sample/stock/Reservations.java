package dev.idempotent.sample.stock;

import java.util.Optional;
import java.util.UUID;

import dev.idempotent.sample.chaos.Chaos;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.stereotype.Service;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;

/**
 * Reserves units of limited stock. The gate refuses most requests, the ledger decides
 * about the others, and the gate is updated with what the ledger has committed.
 */
@Service
public class Reservations {

	private static final Logger logger = LoggerFactory.getLogger(Reservations.class);

	private final StockGate gate;

	private final Reconciler reconciler;

	private final StockLedger ledger;

	private final StockMovements movements;

	private final Chaos chaos;

	private final TransactionTemplate transaction;

	Reservations(StockGate gate, Reconciler reconciler, StockLedger ledger, StockMovements movements, Chaos chaos,
			PlatformTransactionManager transactions) {
		this.gate = gate;
		this.reconciler = reconciler;
		this.ledger = ledger;
		this.movements = movements;
		this.chaos = chaos;
		this.transaction = new TransactionTemplate(transactions);
		this.transaction.setTimeout(2);
		// At a stricter level, concurrent buyers fail with serialization errors.
		this.transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
	}

	/**
	 * Reserves one unit of an item. Repeated calls with the same id reserve one unit.
	 * Must be called outside a transaction, because the gate must only receive committed
	 * facts.
	 * @param reservationId the id of the reservation: 1 to 200 characters, none of them a
	 * control character
	 * @param item the item, of such characters
	 * @param owner the user who wants the unit, of such characters
	 * @return what happened
	 * @throws IllegalArgumentException if a text is not allowed
	 * @throws org.springframework.dao.DataAccessException if Redis or the database fails.
	 * A unit may have been reserved: the next call with this id returns it
	 * @throws org.springframework.transaction.TransactionException if the database fails
	 */
	@Retryable(includes = PessimisticLockingFailureException.class, maxRetries = 2, delay = 10)
	public ReserveResult reserve(String reservationId, String item, String owner) {
		requireNoTransaction();
		Assert.isTrue(FlashSale.isText(reservationId) && FlashSale.isText(item) && FlashSale.isText(owner),
				"The id of a reservation, its item and its owner must have 1 to 200 characters, no control characters");
		return switch (admit(reservationId, item, owner)) {
			case GO -> take(reservationId, item, owner);
			case LIMIT -> new ReserveResult(Outcome.LIMIT_REACHED, null);
			case SOLD_OUT -> new ReserveResult(Outcome.SOLD_OUT, null);
			case ABSENT -> new ReserveResult(Outcome.NOT_ON_SALE, null);
		};
	}

	/**
	 * Gives the unit of a held reservation to an order, in the caller's transaction.
	 * @return whether the reservation was held, also past its end
	 * @throws org.springframework.transaction.IllegalTransactionStateException if there
	 * is no transaction
	 */
	@Transactional(propagation = Propagation.MANDATORY)
	public boolean confirm(String reservationId, UUID orderId) {
		return FlashSale.isText(reservationId) && this.movements.confirm(reservationId, orderId);
	}

	/**
	 * Releases the unit of a held reservation. Must be called outside a transaction,
	 * because the gate must only receive committed facts.
	 * @return what happened
	 * @throws org.springframework.dao.DataAccessException if the database fails. The unit
	 * may have been released: the next call returns whether
	 * @throws org.springframework.transaction.TransactionException if the database fails
	 */
	@Retryable(includes = PessimisticLockingFailureException.class, maxRetries = 2, delay = 10)
	public CancelOutcome cancel(String reservationId) {
		Optional<StockChange> change = end(reservationId);
		if (change.isPresent()) {
			tell(change.get());
			return CancelOutcome.CANCELLED;
		}
		return find(reservationId).map((found) -> switch (found.state()) {
			case ENDED -> CancelOutcome.ALREADY_ENDED;
			case CONFIRMED -> CancelOutcome.CONFIRMED;
			// It was reserved in between.
			case HELD -> cancel(reservationId);
		}).orElse(CancelOutcome.UNKNOWN);
	}

	/**
	 * Returns the reservation with the given id.
	 */
	public Optional<Reservation> find(String reservationId) {
		return FlashSale.isText(reservationId) ? this.ledger.find(reservationId) : Optional.empty();
	}

	/**
	 * Ends a reservation, if it is held, in a transaction of its own. The gate is not
	 * told.
	 */
	Optional<StockChange> end(String reservationId) {
		requireNoTransaction();
		return FlashSale.isText(reservationId)
				? this.transaction.execute((status) -> this.movements.release(reservationId)) : Optional.empty();
	}

	/**
	 * Tells the gate what was committed.
	 * @return whether the gate has received it. If not, the reconciler sends it later
	 */
	boolean tell(StockChange change) {
		return tell(change.reservation().item(), change.reservation().reservationId(), change.facts());
	}

	private Admission admit(String reservationId, String item, String owner) {
		Admission admission = this.gate.admit(item, reservationId, owner);
		if (admission != Admission.ABSENT || !this.reconciler.warm(item)) {
			return admission;
		}
		admission = this.gate.admit(item, reservationId, owner);
		if (admission == Admission.ABSENT) {
			throw new TransientDataAccessResourceException("Redis has lost the gate while it was loaded. Try again");
		}
		return admission;
	}

	private ReserveResult take(String reservationId, String item, String owner) {
		Attempt attempt = attempt(reservationId, item, owner, false);
		if (attempt.outcome() == Outcome.SOLD_OUT) {
			attempt = attempt(reservationId, item, owner, true);
		}
		if (attempt.change() == null) {
			return refusal(attempt.outcome(), reservationId, item, owner);
		}
		tell(attempt.change());
		return new ReserveResult(attempt.outcome(), attempt.change().reservation());
	}

	private Attempt attempt(String reservationId, String item, String owner, boolean wait) {
		try {
			return this.transaction.execute((status) -> {
				Attempt attempt = this.movements.take(reservationId, item, owner, wait);
				if (attempt.change() == null) {
					status.setRollbackOnly();
				}
				else {
					this.chaos.strike();
				}
				return attempt;
			});
		}
		catch (DuplicateKeyException ex) {
			return Attempt.refused(Outcome.ALREADY_RESERVED);
		}
	}

	/**
	 * If the id is known, its reservation determines the outcome.
	 */
	private ReserveResult refusal(Outcome outcome, String reservationId, String item, String owner) {
		Optional<StockFacts> facts = this.ledger.facts(item, owner);
		facts.ifPresent((committed) -> tell(item, reservationId, committed));
		return this.ledger.find(reservationId)
			.map((known) -> new ReserveResult(outcome(known, item, owner), known))
			.orElseGet(() -> new ReserveResult(facts.isPresent() ? outcome : Outcome.NOT_ON_SALE, null));
	}

	private static Outcome outcome(Reservation known, String item, String owner) {
		if (!known.item().equals(item) || !known.owner().equals(owner)) {
			return Outcome.MISMATCHED;
		}
		return (known.state() != ReservationState.ENDED) ? Outcome.ALREADY_RESERVED : Outcome.ENDED;
	}

	private boolean tell(String item, String reservationId, StockFacts facts) {
		try {
			this.gate.tell(item, reservationId, facts);
			return true;
		}
		catch (RuntimeException ex) {
			logger.warn("The gate was not told of a change of the stock. The reconciler tells it when Redis is back",
					ex);
			return false;
		}
	}

	private static void requireNoTransaction() {
		Assert.state(!TransactionSynchronizationManager.isActualTransactionActive(),
				"Units are reserved and released outside a transaction, because the gate must only receive committed facts");
	}

}
