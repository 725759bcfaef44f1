package dev.idempotent.sample.stock;

import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.chaos.Chaos;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.IsolationLevelDataSourceAdapter;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ReservationIsolationIntegrationTests {

	private static final int BUYERS = 40;

	@Autowired
	private DataSource dataSource;

	@Autowired
	private StockGate gate;

	@Autowired
	private ReservationProperties properties;

	/**
	 * Without the retries of the bean.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "ISOLATION_REPEATABLE_READ", "ISOLATION_SERIALIZABLE" })
	void sellToAllBuyersAtOnceWhateverTheIsolationOfThePool(String isolation) {
		IsolationLevelDataSourceAdapter pool = new IsolationLevelDataSourceAdapter();
		pool.setTargetDataSource(this.dataSource);
		pool.setIsolationLevelName(isolation);
		JdbcClient jdbc = JdbcClient.create(pool);
		JdbcTransactionManager transactions = new JdbcTransactionManager(pool);
		StockLedger ledger = new StockLedger(jdbc);
		Sales sales = new Sales(ledger, jdbc, new TransactionTemplate(transactions));
		Reservations reservations = new Reservations(this.gate, new Reconciler(this.gate, ledger), ledger,
				new StockMovements(jdbc, this.properties), new Chaos(), transactions);
		String item = sales.open(BUYERS, 1);
		List<Supplier<Outcome>> buyers = IntStream.range(0, BUYERS)
			.mapToObj((buyer) -> (Supplier<Outcome>) () -> reservations
				.reserve(UUID.randomUUID().toString(), item, "owner-" + buyer)
				.outcome())
			.toList();
		List<Outcome> outcomes = Concurrently.run(buyers);
		assertThat(outcomes).contains(Outcome.RESERVED).isSubsetOf(Outcome.RESERVED, Outcome.SOLD_OUT);
		// A thread that begins late can meet the gate between the commit of another and
		// the end of its ticket.
		for (int buyer = 0; buyer < BUYERS; buyer++) {
			if (outcomes.get(buyer) == Outcome.SOLD_OUT) {
				assertThat(buyers.get(buyer).get()).isEqualTo(Outcome.RESERVED);
			}
		}
		sales.assertSound();
	}

}
