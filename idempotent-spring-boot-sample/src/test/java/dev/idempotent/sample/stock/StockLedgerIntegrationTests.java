package dev.idempotent.sample.stock;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@ShopTest
class StockLedgerIntegrationTests {

	@Autowired
	private StockLedger ledger;

	@Autowired
	private Reservations reservations;

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final Sales sales;

	StockLedgerIntegrationTests(@Autowired StockLedger ledger, @Autowired JdbcClient jdbc,
			@Autowired PlatformTransactionManager transactions) {
		this.jdbc = jdbc;
		this.transaction = new TransactionTemplate(transactions);
		this.sales = new Sales(ledger, jdbc, this.transaction);
	}

	@Test
	void spreadsTheStockOverShelves() {
		assertThat(shelves(this.sales.open(3, 1))).containsExactly(1, 1, 1);
		assertThat(shelves(this.sales.open(35, 1))).hasSize(16).containsOnly(2, 3);
		assertThat(shelves(this.sales.open(1_000_000, 1))).hasSize(16).containsOnly(62_500);
	}

	@Test
	void opensASaleOnce() {
		String item = this.sales.open(5, 1);
		FlashSale again = new FlashSale(item, 7, 2);
		assertThat(this.transaction.<Boolean>execute((status) -> this.ledger.open(again))).isFalse();
		assertThat(this.sales.view(item)).isEqualTo(new StockView(new FlashSale(item, 5, 1), 5, 0, 0));
		assertThat(this.ledger.items()).contains(item);
		assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(() -> this.ledger.open(again));
	}

	@Test
	void refusesImpossibleSales() {
		assertThatIllegalArgumentException().isThrownBy(() -> new FlashSale("tea", 0, 1));
		assertThatIllegalArgumentException().isThrownBy(() -> new FlashSale("tea", 1, 0));
		assertThatIllegalArgumentException().isThrownBy(() -> new FlashSale("tea", 1, 11));
	}

	@Test
	void tellsFactsWithGrowingVersions() {
		String item = this.sales.open(1, 1);
		assertThat(this.ledger.facts(item, true))
			.hasValue(new StockFacts(1, List.of(new StockFacts.Shelf(1, 1, 1)), List.of()));
		String id = UUID.randomUUID().toString();
		this.reservations.reserve(id, item, "ann");
		StockFacts taken = new StockFacts(1, List.of(new StockFacts.Shelf(1, 2, 0)),
				List.of(new StockFacts.Owner("ann", 1, List.of(id))));
		assertThat(this.ledger.facts(item, true)).hasValue(taken);
		assertThat(this.ledger.facts(item, false)).hasValue(taken);
		assertThat(this.ledger.facts(item, "ann")).hasValue(taken);
		assertThat(this.ledger.facts(item, "bob")).hasValue(new StockFacts(1, taken.shelves(), List.of()));
		this.reservations.cancel(id);
		StockFacts.Shelf free = new StockFacts.Shelf(1, 3, 1);
		assertThat(this.ledger.facts(item, true)).hasValue(new StockFacts(1, List.of(free), List.of()));
		assertThat(this.ledger.facts(item, false))
			.hasValue(new StockFacts(1, List.of(free), List.of(new StockFacts.Owner("ann", 2, List.of()))));
	}

	@Test
	void tellsOwnersWhoChangedWithinAMinute() {
		String item = this.sales.open(2, 1);
		IntStream.range(0, 2).forEach((number) -> this.reservations.reserve(item + number, item, "owner" + number));
		this.jdbc.sql("update stock_owner set changed_at = now() - interval '61 s' where owner = 'owner0'").update();
		assertThat(this.ledger.facts(item, false).get().owners()).extracting(StockFacts.Owner::owner)
			.containsExactly("owner1");
		assertThat(this.ledger.facts(item, true).get().owners()).hasSize(2);
	}

	@Test
	void knowsNothingOfOtherItems() {
		assertThat(this.ledger.facts("nothing", true)).isEmpty();
		assertThat(this.ledger.facts("nothing", "ann")).isEmpty();
		assertThat(this.ledger.view("nothing")).isEqualTo(Optional.empty());
	}

	private List<Integer> shelves(String item) {
		return this.jdbc.sql("select total from stock_shelf where item = ? order by shelf")
			.param(item)
			.query(Integer.class)
			.list();
	}

}
