package dev.idempotent.sample.stock;

import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.chaos.Chaos;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@ShopTest
class ReservationsIntegrationTests {

	@Autowired
	private Reservations reservations;

	@Autowired
	private StockGate gate;

	@Autowired
	private Reconciler reconciler;

	@Autowired
	private StockLedger ledger;

	@Autowired
	private StockMovements movements;

	private final JdbcTransactionManager transactions;

	private final Sales sales;

	ReservationsIntegrationTests(@Autowired StockLedger ledger, @Autowired JdbcClient jdbc,
			@Autowired JdbcTransactionManager transactions) {
		this.transactions = transactions;
		this.sales = new Sales(ledger, jdbc, new TransactionTemplate(transactions));
	}

	@AfterEach
	void countEachUnitOnce() {
		this.sales.assertSound();
	}

	@Test
	void takeUnitsUntilAllAreTaken() {
		String item = this.sales.open(2, 2);
		String first = reserve(item, "ann");
		String second = reserve(item, "ann");
		assertThat(this.reservations.reserve(id(), item, "bob")).isEqualTo(refused(Outcome.SOLD_OUT));
		assertThat(this.sales.confirm(this.reservations, first)).isTrue();
		assertThat(this.reservations.cancel(second)).isEqualTo(CancelOutcome.CANCELLED);
		assertThat(this.sales.view(item)).isEqualTo(new StockView(new FlashSale(item, 2, 2), 1, 0, 1));
		reserve(item, "bob");
	}

	@Test
	void takeEachUnitOnceForManyBuyers() {
		String item = this.sales.open(20, 1);
		List<Outcome> outcomes = Concurrently.run(60, () -> this.reservations.reserve(id(), item, id()).outcome());
		assertThat(outcomes).filteredOn(Outcome.RESERVED::equals).hasSize(20);
		assertThat(outcomes).filteredOn(Outcome.SOLD_OUT::equals).hasSize(40);
		assertThat(this.gate.view(item)).hasValue(new GateView(0, 0));
	}

	@Test
	void takeOneUnitForConcurrentCallsWithOneId() {
		String item = this.sales.open(50, 10);
		String id = id();
		List<ReserveResult> results = Concurrently.run(100, () -> this.reservations.reserve(id, item, "ann"));
		assertThat(results.stream().map(ReserveResult::reservation)).containsOnly(this.reservations.find(id).get());
		assertThat(results).filteredOn((result) -> result.outcome() == Outcome.RESERVED).hasSize(1);
		assertThat(results).filteredOn((result) -> result.outcome() == Outcome.ALREADY_RESERVED).hasSize(99);
		assertThat(this.sales.view(item).held()).isOne();
	}

	@Test
	void repeatTheReservationOfTheLastUnit() {
		String item = this.sales.open(1, 1);
		ReserveResult first = this.reservations.reserve("last-" + item, item, "ann");
		ReserveResult second = this.reservations.reserve("last-" + item, item, "ann");
		assertThat(second).isEqualTo(new ReserveResult(Outcome.ALREADY_RESERVED, first.reservation()));
		this.sales.confirm(this.reservations, "last-" + item);
		assertThat(this.reservations.reserve("last-" + item, item, "ann").outcome())
			.isEqualTo(Outcome.ALREADY_RESERVED);
	}

	@Test
	void doNotShareAnIdBetweenItemsOrOwners() {
		String item = this.sales.open(5, 1);
		String id = reserve(item, "ann");
		assertThat(this.reservations.reserve(id, item, "bob").outcome()).isEqualTo(Outcome.MISMATCHED);
		assertThat(this.reservations.reserve(id, this.sales.open(5, 1), "ann").outcome()).isEqualTo(Outcome.MISMATCHED);
	}

	@Test
	void doNotTakeAnotherUnitAfterTheEnd() {
		String item = this.sales.open(5, 1);
		String id = reserve(item, "ann");
		this.reservations.cancel(id);
		assertThat(this.reservations.reserve(id, item, "ann").outcome()).isEqualTo(Outcome.ENDED);
	}

	@Test
	void limitTheUnitsOfAnOwnerWithManyIds() {
		String item = this.sales.open(50, 3);
		List<Outcome> outcomes = Concurrently.run(30, () -> this.reservations.reserve(id(), item, "ann").outcome());
		assertThat(outcomes).filteredOn(Outcome.RESERVED::equals).hasSize(3);
		assertThat(outcomes).filteredOn(Outcome.LIMIT_REACHED::equals).hasSize(27);
	}

	@Test
	void letAnOwnerWhoseReservationEndsReserveAgain() {
		String item = this.sales.open(5, 1);
		String id = reserve(item, "ann");
		assertThat(this.reservations.reserve(id(), item, "ann")).isEqualTo(refused(Outcome.LIMIT_REACHED));
		List<CancelOutcome> outcomes = Concurrently.run(8, () -> this.reservations.cancel(id));
		assertThat(outcomes).filteredOn(CancelOutcome.CANCELLED::equals).hasSize(1);
		assertThat(outcomes).filteredOn(CancelOutcome.ALREADY_ENDED::equals).hasSize(7);
		reserve(item, "ann");
		assertThat(this.reservations.reserve(id(), item, "ann")).isEqualTo(refused(Outcome.LIMIT_REACHED));
	}

	@Test
	void areConfirmedOrCancelledOnce() {
		String item = this.sales.open(2, 2);
		String confirmed = reserve(item, "ann");
		assertThat(this.sales.confirm(this.reservations, confirmed)).isTrue();
		assertThat(this.sales.confirm(this.reservations, confirmed)).isFalse();
		assertThat(this.reservations.cancel(confirmed)).isEqualTo(CancelOutcome.CONFIRMED);
		String cancelled = reserve(item, "ann");
		this.reservations.cancel(cancelled);
		assertThat(this.sales.confirm(this.reservations, cancelled)).isFalse();
		assertThat(this.reservations.cancel(id())).isEqualTo(CancelOutcome.UNKNOWN);
	}

	@Test
	void knowWhichItemsAreOnSale() {
		assertThat(this.reservations.reserve(id(), id(), "ann")).isEqualTo(refused(Outcome.NOT_ON_SALE));
	}

	@Test
	void tellWhatACommitWithoutAnAnswerHasDone() {
		String item = this.sales.open(1, 1);
		String id = id();
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> losingAnswers().reserve(id, item, "ann"));
		assertThat(this.reservations.reserve(id, item, "ann").outcome()).isEqualTo(Outcome.ALREADY_RESERVED);
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> losingAnswers().cancel(id));
		assertThat(this.reservations.cancel(id)).isEqualTo(CancelOutcome.ALREADY_ENDED);
	}

	@Test
	void doNotBelieveAGateThatHasTooManyUnits() {
		String item = this.sales.open(1, 1);
		reserve(item, "ann");
		this.gate.tell(item, null, new StockFacts(9, List.of(new StockFacts.Shelf(1, 1000, 50)), List.of()));
		assertThat(Concurrently.run(8, () -> this.reservations.reserve(id(), item, id())))
			.containsOnly(refused(Outcome.SOLD_OUT));
		assertThat(this.reservations.reserve(id(), item, "ann")).isEqualTo(refused(Outcome.LIMIT_REACHED));
	}

	@ParameterizedTest
	@MethodSource
	void refuseTextThatCannotBeStored(String text) {
		String item = this.sales.open(1, 1);
		assertThatIllegalArgumentException().isThrownBy(() -> this.reservations.reserve(text, item, "ann"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.reservations.reserve(id(), text, "ann"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.reservations.reserve(id(), item, text))
			.withMessageContaining("1 to 200 characters");
		assertThatIllegalArgumentException().isThrownBy(() -> new FlashSale(text, 1, 1));
		assertThat(this.reservations.find(text)).isEmpty();
		assertThat(this.reservations.cancel(text)).isEqualTo(CancelOutcome.UNKNOWN);
		assertThat(this.sales.confirm(this.reservations, text)).isFalse();
	}

	static Stream<String> refuseTextThatCannotBeStored() {
		return Stream.of("", "a\0b", "x".repeat(10_000), "\ud800", "a\nb");
	}

	@Test
	void knowTheirTransactions() {
		TransactionTemplate transaction = new TransactionTemplate(this.transactions);
		assertThatIllegalStateException()
			.isThrownBy(() -> transaction.execute((status) -> this.reservations.reserve("1", "2", "3")))
			.withMessageContaining("outside a transaction");
		assertThatIllegalStateException()
			.isThrownBy(() -> transaction.execute((status) -> this.reservations.cancel("1")));
		assertThatExceptionOfType(IllegalTransactionStateException.class)
			.isThrownBy(() -> this.reservations.confirm("1", UUID.randomUUID()));
	}

	private String reserve(String item, String owner) {
		ReserveResult result = this.reservations.reserve(id(), item, owner);
		assertThat(result.outcome()).isEqualTo(Outcome.RESERVED);
		return Objects.requireNonNull(result.reservation()).reservationId();
	}

	/**
	 * The same reservations with a database whose answers to commits are lost.
	 */
	private Reservations losingAnswers() {
		return new Reservations(this.gate, this.reconciler, this.ledger, this.movements, new Chaos(),
				new JdbcTransactionManager(Objects.requireNonNull(this.transactions.getDataSource())) {

					@Override
					protected void doCommit(DefaultTransactionStatus status) {
						super.doCommit(status);
						throw new DataAccessResourceFailureException("Connection lost");
					}

				});
	}

	private static ReserveResult refused(Outcome outcome) {
		return new ReserveResult(outcome, null);
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
