package dev.idempotent.sample.stock;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.chaos.Chaos;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Without a database, so a request that runs SQL fails.
 */
@ShopTest
class GateRefusalIntegrationTests {

	private final String item = UUID.randomUUID().toString();

	private final StockGate gate;

	private final Reservations reservations;

	GateRefusalIntegrationTests(@Autowired StockGate gate) {
		this.gate = gate;
		DriverManagerDataSource away = new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/away");
		JdbcClient jdbc = JdbcClient.create(away);
		StockLedger ledger = new StockLedger(jdbc);
		this.reservations = new Reservations(gate, new Reconciler(gate, ledger), ledger,
				new StockMovements(jdbc, new ReservationProperties(Duration.ofMinutes(1))), new Chaos(),
				new JdbcTransactionManager(away));
	}

	@BeforeEach
	void openForOneMoreUnit() {
		this.gate.load(this.item, new StockFacts(1, List.of(new StockFacts.Shelf(1, 1, 1)),
				List.of(new StockFacts.Owner("ann", 1, List.of(id())))));
	}

	@Test
	void runsNoSqlForAnOwnerAtTheLimit() {
		assertThat(reserve("ann").outcome()).isEqualTo(Outcome.LIMIT_REACHED);
	}

	@Test
	void runsNoSqlOnceAllUnitsHaveATicket() {
		assertThatExceptionOfType(CannotCreateTransactionException.class).isThrownBy(() -> reserve("bob"));
		assertThat(reserve("cid").outcome()).isEqualTo(Outcome.SOLD_OUT);
	}

	private ReserveResult reserve(String owner) {
		return this.reservations.reserve(id(), this.item, owner);
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
