package dev.idempotent.sample.stock;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

@ShopTest
class ExpirySweeperIntegrationTests {

	@Autowired
	private Reservations reservations;

	@Autowired
	private ExpirySweeper sweeper;

	@Autowired
	private StockGate gate;

	private final JdbcClient jdbc;

	private final Sales sales;

	ExpirySweeperIntegrationTests(@Autowired StockLedger ledger, @Autowired JdbcClient jdbc,
			@Autowired PlatformTransactionManager transactions) {
		this.jdbc = jdbc;
		this.sales = new Sales(ledger, jdbc, new TransactionTemplate(transactions));
	}

	@AfterEach
	void countEachUnitOnce() {
		this.sales.assertSound();
	}

	@Test
	void givesTheUnitsOfExpiredReservationsBack() {
		String item = this.sales.open(3, 3);
		String confirmed = reserve(item);
		this.sales.confirm(this.reservations, confirmed);
		String held = reserve(item);
		String expired = reserve(item);
		List.of(confirmed, expired).forEach(this.sales::expire);
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.sales.view(item).free() == 1);
		assertThat(Stream.of(confirmed, held, expired).map((id) -> this.reservations.find(id).get().state()))
			.containsExactly(ReservationState.CONFIRMED, ReservationState.HELD, ReservationState.ENDED);
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.gate.view(item).get().units() == 1);
	}

	@Test
	void endsAReservationOnceOnManyInstances() {
		String item = this.sales.open(10, 10);
		List<String> ids = Stream.generate(() -> reserve(item)).limit(10).toList();
		ids.forEach(this.sales::expire);
		Concurrently.run(4, () -> {
			this.sweeper.sweep();
			return true;
		});
		assertThat(this.sales.view(item)).isEqualTo(new StockView(new FlashSale(item, 10, 10), 10, 0, 0));
	}

	@Test
	void endsTheOthersIfOneCannotBeEnded() {
		String wrong = this.sales.open(1, 1);
		String stuck = reserve(wrong);
		this.jdbc.sql("update stock_shelf set taken = 0 where item = ?").param(wrong).update();
		this.sales.expire(stuck);
		String item = this.sales.open(5, 5);
		Stream.generate(() -> reserve(item)).limit(5).toList().forEach(this.sales::expire);
		Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
			this.sweeper.sweep();
			assertThat(this.sales.view(item).free()).isEqualTo(5);
		});
		this.jdbc.sql("update stock_shelf set taken = 1 where item = ?").param(wrong).update();
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.sales.view(wrong).free() == 1);
	}

	@Test
	void outlivesADatabaseThatIsAway() {
		StockLedger away = new StockLedger(
				JdbcClient.create(new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/")));
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> away.expired(1));
		assertThatNoException().isThrownBy(new ExpirySweeper(away, this.reservations)::sweep);
	}

	@Test
	void doesNotWaitForAnotherScheduledTask(@Autowired TaskScheduler scheduler) {
		String item = this.sales.open(1, 1);
		CompletableFuture<Void> hanging = new CompletableFuture<>();
		Future<?> task = scheduler.schedule(hanging::join, Instant.now());
		try {
			this.sales.expire(reserve(item));
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.sales.view(item).free() == 1);
		}
		finally {
			hanging.complete(null);
		}
		assertThat(task).succeedsWithin(Duration.ofMinutes(1));
	}

	private String reserve(String item) {
		return Objects
			.requireNonNull(this.reservations.reserve(UUID.randomUUID().toString(), item, "ann").reservation())
			.reservationId();
	}

}
