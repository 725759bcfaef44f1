package dev.idempotent.sample.stock;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ReservationRacesIntegrationTests {

	@Autowired
	private Reservations reservations;

	@Autowired
	private ExpirySweeper sweeper;

	@Autowired
	private StockMovements movements;

	@Autowired
	private PlatformTransactionManager transactions;

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final Sales sales;

	ReservationRacesIntegrationTests(@Autowired StockLedger ledger, @Autowired JdbcClient jdbc,
			@Autowired PlatformTransactionManager transactions) {
		this.jdbc = jdbc;
		this.transaction = new TransactionTemplate(transactions);
		this.sales = new Sales(ledger, jdbc, this.transaction);
	}

	@AfterEach
	void countEachUnitOnce() {
		this.sales.assertSound();
	}

	@RepeatedTest(20)
	void endInOneWay() {
		String item = this.sales.open(1, 1);
		String id = id();
		this.reservations.reserve(id, item, "ann");
		this.sales.expire(id);
		List<Object> results = Concurrently.run(List.<Supplier<Object>>of(
				() -> this.sales.confirm(this.reservations, id), () -> this.reservations.cancel(id), this::sweep));
		boolean confirmed = results.get(0).equals(true);
		assertThat(this.reservations.find(id).get().state())
			.isEqualTo(confirmed ? ReservationState.CONFIRMED : ReservationState.ENDED);
		assertThat(results.get(1)).isIn(confirmed ? List.of(CancelOutcome.CONFIRMED)
				: List.of(CancelOutcome.CANCELLED, CancelOutcome.ALREADY_ENDED));
		assertThat(this.sales.view(item).free()).isEqualTo(confirmed ? 0 : 1);
	}

	@Test
	void giveTheLastUnitToAnotherBuyerIfItsHolderRollsBack() {
		String item = this.sales.open(1, 1);
		CompletableFuture<ReserveResult> second = this.transaction.execute((status) -> {
			assertThat(this.movements.take(id(), item, "ann", false).outcome()).isEqualTo(Outcome.RESERVED);
			CompletableFuture<ReserveResult> waiting = CompletableFuture
				.supplyAsync(() -> this.reservations.reserve(id(), item, "bob"));
			awaitOneThatWaitsForThisTransaction();
			status.setRollbackOnly();
			return waiting;
		});
		assertThat(second.join().outcome()).isEqualTo(Outcome.RESERVED);
	}

	/**
	 * The first attempt of the second buyer finds a shelf with a unit in its snapshot,
	 * and locks it when another transaction has just taken the unit. It must not keep
	 * that lock while it waits for the other shelf.
	 */
	@Test
	void waitForTheLastUnitWithoutALockOnAnotherShelf() {
		String item = this.sales.open(2, 1);
		pauseUpdatesOfShelves();
		try {
			CompletableFuture<ReserveResult> second = this.transaction.execute((status) -> {
				this.jdbc.sql("select pg_advisory_lock(15)").query().listOfRows();
				CompletableFuture<ReserveResult> waiting = CompletableFuture
					.supplyAsync(() -> this.reservations.reserve(id(), item, "bob"));
				awaitOneThatWaitsForThisTransaction();
				takeUnitWithoutPause(item, "ann");
				lockShelves(item, "taken < total for update");
				this.jdbc.sql("select pg_advisory_unlock(15)").query().listOfRows();
				awaitOneThatWaitsForThisTransaction();
				lockShelves(item, "taken = total for update nowait");
				return waiting;
			});
			assertThat(second.join().outcome()).isEqualTo(Outcome.RESERVED);
		}
		finally {
			this.jdbc.sql("drop function pause cascade").update();
		}
	}

	private void pauseUpdatesOfShelves() {
		this.jdbc.sql("""
				create function pause() returns trigger language plpgsql as
				'begin perform pg_advisory_xact_lock_shared(15); return null; end';
				create trigger pause before update on stock_shelf execute function pause()
				""").update();
	}

	private void takeUnitWithoutPause(String item, String owner) {
		TransactionTemplate other = new TransactionTemplate(this.transactions);
		other.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		other.executeWithoutResult((status) -> {
			this.jdbc.sql("set local session_replication_role = replica").update();
			assertThat(this.movements.take(id(), item, owner, false).outcome()).isEqualTo(Outcome.RESERVED);
		});
	}

	private void lockShelves(String item, String condition) {
		assertThat(this.jdbc.sql("select shelf from stock_shelf where item = ? and " + condition)
			.param(item)
			.query(Integer.class)
			.list()).hasSize(1);
	}

	@Test
	void areCancelledAfterADeadlock() {
		String item = this.sales.open(1, 1);
		String id = id();
		this.reservations.reserve(id, item, "ann");
		CompletableFuture<CancelOutcome> cancelled = this.transaction.execute((status) -> {
			this.jdbc.sql("set local deadlock_timeout = '1min'").update();
			lockShelves(item, "true for update");
			CompletableFuture<CancelOutcome> victim = CompletableFuture.supplyAsync(() -> this.reservations.cancel(id));
			awaitOneThatWaitsForThisTransaction();
			this.jdbc.sql("select state from reservation where reservation_id = ? for update")
				.param(id)
				.query()
				.listOfRows();
			return victim;
		});
		assertThat(cancelled.join()).isEqualTo(CancelOutcome.CANCELLED);
	}

	@Test
	void survivesAllCallsAtOnce() {
		List<String> items = List.of(this.sales.open(4, 2), this.sales.open(3, 1));
		List<String> ids = List.of(id(), id(), id(), id(), id(), id());
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		List<Supplier<Object>> clients = random.longs(12)
			.mapToObj((each) -> client(new Random(each), items, ids))
			.toList();
		assertThat(Concurrently.run(clients)).as("seed %d", seed).containsOnly(true);
	}

	/**
	 * Makes random calls that often have the same id, also with different owners.
	 */
	private Supplier<Object> client(Random random, List<String> items, List<String> ids) {
		return () -> {
			for (int call = 0; call < 60; call++) {
				String id = ids.get(random.nextInt(ids.size())) + call / 6;
				switch (random.nextInt(6)) {
					case 0 -> this.reservations.cancel(id);
					case 1 -> this.sales.confirm(this.reservations, id);
					case 2 -> {
						this.sales.expire(id);
						this.sweeper.sweep();
					}
					default ->
						this.reservations.reserve(id, items.get(random.nextInt(2)), "owner-" + random.nextInt(4));
				}
			}
			return true;
		};
	}

	private Object sweep() {
		this.sweeper.sweep();
		return "swept";
	}

	private void awaitOneThatWaitsForThisTransaction() {
		Awaitility.await()
			.pollInSameThread()
			.pollInterval(Duration.ofMillis(5))
			.atMost(Duration.ofMinutes(1))
			.until(() -> this.jdbc
				.sql("select exists (select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid)))")
				.query(Boolean.class)
				.single());
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
