package dev.idempotent.sample.sale;

import java.util.Optional;

import dev.idempotent.sample.stock.FlashSale;
import dev.idempotent.sample.stock.GateView;
import dev.idempotent.sample.stock.Reconciler;
import dev.idempotent.sample.stock.StockGate;
import dev.idempotent.sample.stock.StockLedger;
import dev.idempotent.sample.stock.StockView;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;

/**
 * The sales of the shop.
 */
@Service
class FlashSales {

	private static final Logger logger = LoggerFactory.getLogger(FlashSales.class);

	private final StockLedger ledger;

	private final StockGate gate;

	private final Reconciler reconciler;

	private final NaiveSale naive;

	private final ApplicationEventPublisher events;

	FlashSales(StockLedger ledger, StockGate gate, Reconciler reconciler, NaiveSale naive,
			ApplicationEventPublisher events) {
		this.ledger = ledger;
		this.gate = gate;
		this.reconciler = reconciler;
		this.naive = naive;
		this.events = events;
	}

	/**
	 * Puts an item on sale.
	 */
	@Transactional
	void open(FlashSale sale) {
		if (!this.ledger.open(sale)) {
			throw Refusal.ALREADY_ON_SALE.exception();
		}
		this.naive.open(sale);
		this.events.publishEvent(sale);
	}

	/**
	 * Loads the gate of a sale that has been committed, before its first buyer asks.
	 */
	@TransactionalEventListener
	void warm(FlashSale sale) {
		try {
			this.reconciler.warm(sale.item());
		}
		catch (RuntimeException ex) {
			logger.warn("The gate of a new sale is not loaded. The reconciler loads it later", ex);
		}
	}

	SaleView view(String item) {
		StockView units = this.ledger.view(item).orElseThrow(Refusal.SALE_UNKNOWN::exception);
		return SaleView.of(units, gate(item).orElse(null));
	}

	private Optional<GateView> gate(String item) {
		try {
			return this.gate.view(item);
		}
		catch (DataAccessException ex) {
			return Optional.empty();
		}
	}

}
