package dev.idempotent.sample.stock;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.order.OrderStatus;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ReservationsIntegrationTests {

	private final Reservations reservations;

	private final Sales sales;

	ReservationsIntegrationTests(@Autowired Reservations reservations, @Autowired StockLedger ledger,
			@Autowired JdbcClient jdbc, @Autowired PlatformTransactionManager transactions) {
		this.reservations = reservations;
		this.sales = new Sales(ledger, jdbc, new TransactionTemplate(transactions));
	}

	@AfterEach
	void countsEachUnitOnce() {
		this.sales.assertSound();
	}

	@Test
	void reserveConfirmAndCancelUnits() {
		String item = this.sales.open(2, 2);
		ReserveResult first = this.reservations.reserve(id(), item, "ann");
		ReserveResult second = this.reservations.reserve(id(), item, "ann");
		assertThat(Stream.of(first, second).map(ReserveResult::outcome)).containsOnly(Outcome.RESERVED);
		assertThat(this.reservations.reserve(id(), item, "bob").outcome()).isEqualTo(Outcome.SOLD_OUT);
		String id = first.reservation().reservationId();
		assertThat(this.sales.confirm(this.reservations, id)).isTrue();
		assertThat(this.reservations.cancel(second.reservation().reservationId())).isEqualTo(CancelOutcome.CANCELLED);
		assertThat(this.sales.view(item)).isEqualTo(new StockView(new FlashSale(item, 2, 2), 1, 0, 1));
	}

	@Test
	void reserveOneUnitForConcurrentCallsWithOneId() {
		String item = this.sales.open(50, 10);
		String id = id();
		List<ReserveResult> results = Concurrently.run(100, () -> this.reservations.reserve(id, item, "ann"));
		assertThat(results.stream().map(ReserveResult::reservation)).containsOnly(this.reservations.find(id).get());
		assertThat(results.stream().filter((result) -> result.outcome() == Outcome.RESERVED)).hasSize(1);
		assertThat(results.stream().filter((result) -> result.outcome() == Outcome.ALREADY_RESERVED)).hasSize(99);
		assertThat(this.sales.view(item).held()).isOne();
	}

	@Test
	void reserveEachUnitOnceForManyBuyers() {
		String item = this.sales.open(20, 1);
		List<Outcome> outcomes = Concurrently.run(60, () -> this.reservations.reserve(id(), item, id()).outcome());
		assertThat(outcomes).filteredOn(Outcome.RESERVED::equals).hasSize(20);
		assertThat(outcomes).filteredOn(Outcome.SOLD_OUT::equals).hasSize(40);
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
