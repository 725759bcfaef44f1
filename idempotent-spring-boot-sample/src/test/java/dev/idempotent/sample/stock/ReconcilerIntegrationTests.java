package dev.idempotent.sample.stock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.stock.Reconciler.Correction;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scheduled passes of the shop go on meanwhile.
 */
@ShopTest
class ReconcilerIntegrationTests {

	private static final int TRADERS = 8;

	private final Reservations reservations;

	private final StockMovements movements;

	private final StockLedger ledger;

	private final StockGate gate;

	private final Reconciler reconciler;

	private final StringRedisTemplate redis;

	private final TransactionTemplate transaction;

	private final Sales sales;

	ReconcilerIntegrationTests(@Autowired Reservations reservations, @Autowired StockMovements movements,
			@Autowired StockLedger ledger, @Autowired StockGate gate, @Autowired Reconciler reconciler,
			@Autowired StringRedisTemplate redis, @Autowired JdbcClient jdbc,
			@Autowired PlatformTransactionManager transactions) {
		this.reservations = reservations;
		this.movements = movements;
		this.ledger = ledger;
		this.gate = gate;
		this.reconciler = reconciler;
		this.redis = redis;
		this.transaction = new TransactionTemplate(transactions);
		this.sales = new Sales(ledger, jdbc, this.transaction);
	}

	@AfterEach
	void countsEachUnitOnce() {
		this.sales.assertSound();
	}

	@Test
	void loadsTheGateOfASaleOnly() {
		String item = this.sales.open(3, 2);
		assertThat(this.reconciler.warm(item)).isTrue();
		assertThat(this.reconciler.warm(item)).isTrue();
		assertRight(item);
		String other = id();
		assertThat(this.reconciler.warm(other)).isFalse();
		assertThat(this.gate.view(other)).isEmpty();
	}

	@Test
	void rebuildsAWipedGateWithTheUnitsOfOpenReservations() {
		String item = this.sales.open(3, 2);
		ReserveResult first = reserve(item, "ann");
		reserve(item, "ann");
		keys(item).wipe();
		assertThat(reserve(item, "ann").outcome()).isEqualTo(Outcome.LIMIT_REACHED);
		assertRight(item);
		String id = idOf(first);
		assertThat(this.reservations.reserve(id, item, "ann").outcome()).isEqualTo(Outcome.ALREADY_RESERVED);
		assertThat(reserve(item, "bob").outcome()).isEqualTo(Outcome.RESERVED);
		assertThat(reserve(item, "cid").outcome()).isEqualTo(Outcome.SOLD_OUT);
	}

	@Test
	void rebuildsAGateThatWasWipedBetweenAdmissionAndCommit() {
		String item = this.sales.open(1, 1);
		this.reconciler.warm(item);
		String id = id();
		assertThat(this.gate.admit(item, id, "ann")).isEqualTo(Admission.GO);
		keys(item).wipe();
		Attempt attempt = this.transaction.execute((status) -> this.movements.take(id, item, "ann", false));
		this.reservations.tell(Objects.requireNonNull(attempt.change()));
		assertThat(reserve(item, "bob").outcome()).isEqualTo(Outcome.SOLD_OUT);
		assertThat(this.reservations.reserve(id, item, "ann").outcome()).isEqualTo(Outcome.ALREADY_RESERVED);
		assertRight(item);
	}

	@ParameterizedTest
	@EnumSource(names = { "NO_SHELVES", "NEWER" })
	void buildsAGateWithOwnersWhoseLastChangeIsLongAgo(GateDamage damage) {
		String item = this.sales.open(3, 1);
		reserve(item, "ann");
		this.sales.age(item);
		keys(item).age();
		damage.applyTo(keys(item), this.redis);
		this.reconciler.reconcile(item);
		assertThat(this.gate.admit(item, id(), "ann")).isEqualTo(Admission.LIMIT);
	}

	@ParameterizedTest
	@EnumSource
	void correctsADamagedGateInOnePass(GateDamage damage) {
		String item = this.sales.open(3, 2);
		String id = idOf(reserve(item, "ann"));
		reserve(item, "bob");
		damage.applyTo(keys(item), this.redis);
		this.reconciler.reconcile(item);
		assertRight(item);
		assertThat(this.gate.admit(item, id, "ann")).isEqualTo(Admission.GO);
		assertThat(reserve(item, "cid").outcome()).isEqualTo(Outcome.RESERVED);
		assertThat(reserve(item, "dan").outcome()).isEqualTo(Outcome.SOLD_OUT);
	}

	@Test
	void tellsTheGateOfACommitThatItHasNotHeardOf() {
		String item = this.sales.open(2, 1);
		this.reconciler.warm(item);
		String id = id();
		assertThat(this.gate.admit(item, id, "ann")).isEqualTo(Admission.GO);
		this.transaction.execute((status) -> this.movements.take(id, item, "ann", false));
		this.reconciler.reconcile(item);
		assertRight(item);
		assertThat(this.gate.admit(item, id(), "ann")).isEqualTo(Admission.LIMIT);
		assertThat(this.gate.admit(item, id, "ann")).isEqualTo(Admission.GO);
	}

	@Test
	void catchesUpWithAFailoverThatHasLostTheLastWrites() {
		String item = this.sales.open(3, 2);
		reserve(item, "ann");
		Map<String, byte[]> backup = keys(item).dump();
		reserve(item, "ann");
		reserve(item, "bob");
		keys(item).restore(backup);
		assertThat(reserve(item, "cid").outcome()).isEqualTo(Outcome.SOLD_OUT);
		keys(item).restore(backup);
		assertThat(this.reconciler.reconcile(item)).isEqualTo(Correction.TOLD);
		assertRight(item);
	}

	@Test
	void neverReplacesTheGateOfABusySale() {
		String item = this.sales.open(20, 2);
		this.reconciler.warm(item);
		List<CompletableFuture<Void>> traders = Stream.generate(() -> CompletableFuture.runAsync(() -> trade(item)))
			.limit(TRADERS)
			.toList();
		List<Correction> corrections = new ArrayList<>();
		while (!traders.stream().allMatch(CompletableFuture::isDone)) {
			corrections.add(this.reconciler.reconcile(item));
		}
		traders.forEach(CompletableFuture::join);
		assertThat(corrections).containsOnly(Correction.TOLD);
		assertRight(item);
	}

	@Test
	void makesOneRightGateFromManyInstancesAtOnce() {
		String item = this.sales.open(20, 2);
		List<Supplier<Boolean>> tasks = new ArrayList<>();
		for (int instance = 0; instance < 3; instance++) {
			Reconciler another = new Reconciler(this.gate, this.ledger);
			tasks.add(() -> repeat(20, () -> another.reconcile(item)));
			tasks.add(() -> repeat(1, () -> trade(item)));
		}
		tasks.add(() -> repeat(5, () -> {
			assertThat(this.reconciler.warm(item)).isTrue();
			keys(item).wipe();
		}));
		Concurrently.run(tasks);
		this.reconciler.reconcile(item);
		assertRight(item);
	}

	private void trade(String item) {
		String owner = id();
		for (int i = 0; i < 20; i++) {
			String id = id();
			if (isReserved(id, item, owner) && i % 5 != 0) {
				this.reservations.cancel(id);
			}
		}
	}

	private boolean isReserved(String id, String item, String owner) {
		try {
			return this.reservations.reserve(id, item, owner).outcome() == Outcome.RESERVED;
		}
		catch (TransientDataAccessResourceException ex) {
			// Another wipe came between a load and the next attempt.
			return false;
		}
	}

	private static boolean repeat(int times, Runnable task) {
		for (int i = 0; i < times; i++) {
			task.run();
		}
		return true;
	}

	/**
	 * Asserts that the gate knows exactly what is committed.
	 */
	private void assertRight(String item) {
		StockFacts facts = this.ledger.facts(item, true).orElseThrow();
		Map<Object, Object> expected = new HashMap<>(Map.of("limit", facts.perUser() + ""));
		facts.shelves().forEach((shelf) -> {
			expected.put("v" + shelf.number(), shelf.version() + "");
			expected.put("f" + shelf.number(), shelf.free() + "");
		});
		int units = facts.shelves().stream().mapToInt(StockFacts.Shelf::free).sum();
		expected.put("units", units + "");
		assertThat(keys(item).fields()).isEqualTo(expected);
		assertThat(this.gate.view(item)).hasValue(new GateView(units, 0));
	}

	private ReserveResult reserve(String item, String owner) {
		return this.reservations.reserve(id(), item, owner);
	}

	private static String idOf(ReserveResult result) {
		return Objects.requireNonNull(result.reservation()).reservationId();
	}

	private GateKeys keys(String item) {
		return new GateKeys(this.redis, item);
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
