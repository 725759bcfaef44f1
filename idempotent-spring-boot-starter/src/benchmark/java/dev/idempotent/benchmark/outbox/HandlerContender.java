package dev.idempotent.benchmark.outbox;

import java.time.Duration;

import dev.idempotent.benchmark.Contender;
import org.awaitility.Awaitility;

/**
 * The shop with a handler for its events, which does the {@link Booking} of each. Nothing
 * is handled until a scenario starts it.
 */
abstract class HandlerContender implements Contender {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final String name;

	private final String table;

	private final Shop shop;

	/**
	 * Takes over a shop.
	 * @param table keeps the events that have not been handled
	 */
	HandlerContender(String name, String table, Shop shop) {
		this.name = name;
		this.table = table;
		this.shop = shop;
		shop.database().sql().execute(Booking.CREATE);
	}

	@Override
	public final String name() {
		return this.name;
	}

	final Shop shop() {
		return this.shop;
	}

	final Booking booking() {
		return this.shop.application().bean(Booking.class);
	}

	/**
	 * Places an order and records its event in the same transaction.
	 * @return the order's number, when the transaction has committed
	 */
	abstract long place();

	/**
	 * Called right after the time of a commit was noted.
	 * @param order the order's number
	 */
	void committed(long order) {
	}

	/**
	 * Begins to handle: what was recorded before, and what will be.
	 */
	abstract void startHandling();

	/**
	 * Ends what has been begun, and handles nothing more.
	 */
	abstract void stopHandling();

	/**
	 * Whether events are recorded at all.
	 */
	boolean isOutbox() {
		return true;
	}

	/**
	 * Returns when nothing of the events is left to do.
	 */
	final void awaitEmpty() {
		if (isOutbox()) {
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> this.shop.database()
					.sql()
					.queryForList("select 1 from " + this.table + " limit 1")
					.isEmpty());
		}
	}

	/**
	 * Forgets what earlier measurements left behind.
	 */
	final void tidy() {
		this.shop.database().sql().execute("truncate table orders, " + Booking.TABLE);
		booking().clear();
		this.shop.database().tidy();
	}

	@Override
	public void close() {
		this.shop.close();
	}

}
