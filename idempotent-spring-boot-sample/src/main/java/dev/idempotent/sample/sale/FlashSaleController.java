package dev.idempotent.sample.sale;

import java.net.URI;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.sample.order.Order;
import jakarta.validation.Valid;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/flash-sales")
class FlashSaleController {

	private static final String ITEM = "/{item:" + OpenSale.NAME + "}";

	private final FlashSales sales;

	private final SoldOutMemory soldOut;

	private final Purchases purchases;

	private final NaiveSale naive;

	FlashSaleController(FlashSales sales, SoldOutMemory soldOut, Purchases purchases, NaiveSale naive) {
		this.sales = sales;
		this.soldOut = soldOut;
		this.purchases = purchases;
		this.naive = naive;
	}

	@PostMapping
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	ResponseEntity<OpenSale> open(@Valid @RequestBody OpenSale command) {
		this.sales.open(command.sale());
		return ResponseEntity.created(URI.create("/api/flash-sales/" + command.item())).body(command);
	}

	@GetMapping(ITEM)
	SaleView show(@PathVariable String item) {
		return this.sales.view(item);
	}

	@GetMapping(ITEM + "/door")
	Door door(@PathVariable String item) {
		return new Door(this.soldOut.isSoldOut(item));
	}

	/**
	 * The lease is short, because a process that dies after its claim has at most one
	 * short transaction open: its buyer can repeat the request soon.
	 */
	@PostMapping(ITEM + "/reservations")
	@Idempotent(guarantee = Guarantee.LEASE, lease = "5s")
	ResponseEntity<ReservedUnit> reserve(@PathVariable String item, @Valid @RequestBody Buyer buyer) {
		ReservedUnit unit = this.purchases.reserve(item, buyer.userId());
		return ResponseEntity.created(URI.create("/api/reservations/" + unit.reservationId())).body(unit);
	}

	@PostMapping(ITEM + "/naive")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	ResponseEntity<Order> buyNaively(@PathVariable String item, @Valid @RequestBody Buyer buyer) {
		Order order = this.naive.buy(item, buyer.userId());
		return ResponseEntity.created(URI.create("/api/orders/" + order.orderId())).body(order);
	}

	/**
	 * What a buyer sees before trying.
	 */
	record Door(boolean soldOut) {

	}

}
