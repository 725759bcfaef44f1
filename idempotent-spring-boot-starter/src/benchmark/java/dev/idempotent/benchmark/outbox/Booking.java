package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * What every handler does: it inserts a row, in its transaction if there is one. The end
 * of a handler is the commit of that row, whoever commits it. The table has no unique
 * column, so that it shows who handles an event twice.
 * <p>
 * The commit is noted by a listener of the transaction manager: a synchronization would
 * be one of the application's, after which ours asks the database once more.
 */
final class Booking implements TransactionExecutionListener {

	static final String TABLE = "booking";

	static final String CREATE = "create table booking (number bigint not null)";

	private static final String INSERT = "insert into booking (number) values (?)";

	private static final Duration PATIENCE = Duration.ofMinutes(10);

	private static final Duration GLANCE = Duration.ofMillis(2);

	private final Map<Long, Long> ended = new ConcurrentHashMap<>();

	private final ThreadLocal<List<OrderPlaced>> uncommitted = ThreadLocal.withInitial(ArrayList::new);

	private final JdbcTemplate jdbc;

	Booking(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
	}

	void book(OrderPlaced order) {
		this.jdbc.update(INSERT, order.number());
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			this.uncommitted.get().add(order);
		}
		else {
			note(order);
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
		if (failure == null) {
			this.uncommitted.get().forEach(this::note);
		}
		this.uncommitted.remove();
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
		this.uncommitted.remove();
	}

	private void note(OrderPlaced order) {
		this.ended.putIfAbsent(order.number(), System.nanoTime());
	}

	/**
	 * Returns as soon as so many orders have been handled.
	 */
	void awaitCount(int count) {
		Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(GLANCE)
			.atMost(PATIENCE)
			.until(() -> this.ended.size() >= count);
	}

	/**
	 * When the handler of an order ended.
	 * @return of {@code System.nanoTime()}
	 */
	long ended(Long number) {
		return Objects.requireNonNull(this.ended.get(number));
	}

	/**
	 * Verifies that each of these orders was booked and no other.
	 * @return how many rows there are too many
	 */
	int again(Set<Long> orders) {
		List<Long> rows = this.jdbc.queryForList("select number from booking", Long.class);
		Assert.state(Set.copyOf(rows).equals(orders),
				() -> "%d orders were placed, %d handled".formatted(orders.size(), Set.copyOf(rows).size()));
		return rows.size() - orders.size();
	}

	void clear() {
		this.ended.clear();
	}

}
