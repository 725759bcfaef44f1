package dev.idempotent.transition.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import dev.idempotent.transition.IllegalTransitionException;
import dev.idempotent.transition.jdbc.OrderTable.OrderStatus;
import dev.idempotent.transition.jdbc.TransitionResult.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.dao.OptimisticLockingFailureException;

import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.CLOSED;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PAID;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PENDING;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.SHIPPED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What {@link GuardedTransitions} promises on each database, at each isolation.
 */
abstract class AbstractGuardedTransitionsTests {

	private final UUID id = UUID.randomUUID();

	/**
	 * A table whose ids are UUIDs.
	 */
	abstract OrderTable orders();

	/**
	 * Creates a table with other ids.
	 */
	abstract OrderTable create(String name, String idType);

	/**
	 * The type of ids of bytes.
	 */
	abstract String binaryType();

	@Test
	void movesARowThatHasTheState() {
		orders().insert(this.id, "PENDING");
		assertThat(orders().move(this.id, PENDING, PAID)).isEqualTo(new TransitionResult<>(Outcome.APPLIED, PAID, 1L));
		assertThat(orders().row(this.id)).isEqualTo("PAID 1");
		assertThat(orders().move(this.id, PAID, SHIPPED, 1).orThrow()).isEqualTo(2);
		assertThat(orders().row(this.id)).isEqualTo("SHIPPED 2");
	}

	@Test
	void reportsAnAbsentRow() {
		TransitionResult<OrderStatus> moved = orders().move(this.id, PENDING, PAID);
		assertThat(moved).isEqualTo(new TransitionResult<>(Outcome.ABSENT, null, null));
		assertThatExceptionOfType(EmptyResultDataAccessException.class).isThrownBy(moved::orThrow);
	}

	@Test
	void reportsTheStateAndTheVersionThatConflict() {
		orders().insert(this.id, "CLOSED");
		TransitionResult<OrderStatus> moved = orders().move(this.id, PENDING, PAID);
		assertThat(moved).isEqualTo(new TransitionResult<>(Outcome.CONFLICT, CLOSED, 0L));
		assertThatExceptionOfType(OptimisticLockingFailureException.class).isThrownBy(moved::orThrow)
			.withMessageContaining("CLOSED")
			.withMessageContaining("version 0");
		assertThat(orders().row(this.id)).isEqualTo("CLOSED 0");
	}

	@Test
	void changesNothingIfTheTransitionIsIllegal() {
		orders().insert(this.id, "PENDING");
		assertThatExceptionOfType(IllegalTransitionException.class)
			.isThrownBy(() -> orders().move(this.id, PENDING, SHIPPED));
		assertThat(orders().row(this.id)).isEqualTo("PENDING 0");
	}

	@Test
	void refusesAnOldVersionThoughTheRowHasReturnedToTheState() {
		orders().insert(this.id, "PENDING");
		orders().move(this.id, PENDING, PAID).orThrow();
		orders().move(this.id, PAID, PENDING).orThrow();
		assertThat(orders().move(this.id, PENDING, CLOSED, 0))
			.isEqualTo(new TransitionResult<>(Outcome.CONFLICT, PENDING, 2L));
		assertThat(orders().move(this.id, PENDING, CLOSED, 2).orThrow()).isEqualTo(3);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void movesARowForOneOfManyCallers(boolean byVersion) {
		orders().insert(this.id, "PENDING");
		List<TransitionResult<OrderStatus>> moves = atOnce(100,
				() -> byVersion ? orders().move(this.id, PENDING, PAID, 0) : orders().move(this.id, PENDING, PAID));
		assertThat(moves).filteredOn((moved) -> moved.outcome() == Outcome.APPLIED).hasSize(1);
		assertThat(moves).filteredOn((moved) -> moved.outcome() == Outcome.CONFLICT)
			.hasSize(99)
			.allSatisfy((moved) -> assertThat(moved.state()).isEqualTo(PAID));
		assertThat(orders().row(this.id)).isEqualTo("PAID 1");
	}

	@Test
	void reportsTheConflictingStateDespiteAnEarlierRead() {
		orders().insert(this.id, "PENDING");
		AtomicBoolean first = new AtomicBoolean(true);
		TransitionResult<OrderStatus> moved = orders().inTransaction(() -> {
			orders().row(this.id);
			if (first.getAndSet(false)) {
				CompletableFuture.runAsync(() -> orders().move(this.id, PENDING, CLOSED).orThrow()).join();
			}
			return orders().guarded().move(this.id, PENDING, PAID);
		});
		assertThat(moved).isEqualTo(new TransitionResult<>(Outcome.CONFLICT, CLOSED, 1L));
	}

	@Test
	void movesNothingInATransactionThatRollsBack() {
		orders().insert(this.id, "PENDING");
		assertThatExceptionOfType(OptimisticLockingFailureException.class)
			.isThrownBy(() -> orders().inTransaction(() -> {
				orders().guarded().move(this.id, PENDING, PAID).orThrow();
				return orders().guarded().move(this.id, PENDING, PAID).orThrow();
			}));
		assertThat(orders().row(this.id)).isEqualTo("PENDING 0");
		assertThat(orders().move(this.id, PENDING, PAID).orThrow()).isEqualTo(1);
	}

	@Test
	void findsRowsByIdsOfEachType() {
		Map<String, Object> ids = Map.of("bigint", 42L, "integer", 42, "varchar(40)", "forty-two", binaryType(),
				new byte[] { 1, 0, -1 });
		ids.forEach((type, value) -> {
			OrderTable table = create("guarded_by_type", type);
			table.insert(value, "PENDING");
			assertThat(table.move(value, PENDING, PAID).orThrow()).isEqualTo(1);
			assertThat(table.row(value)).isEqualTo("PAID 1");
		});
	}

	private static <T> List<T> atOnce(int callers, Supplier<T> work) {
		ExecutorService threads = Executors.newFixedThreadPool(callers);
		try {
			CyclicBarrier start = new CyclicBarrier(callers);
			List<CompletableFuture<T>> running = new ArrayList<>();
			for (int i = 0; i < callers; i++) {
				running.add(CompletableFuture.supplyAsync(() -> {
					await(start);
					return work.get();
				}, threads));
			}
			return running.stream().map(CompletableFuture::join).toList();
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static void await(CyclicBarrier start) {
		try {
			start.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
