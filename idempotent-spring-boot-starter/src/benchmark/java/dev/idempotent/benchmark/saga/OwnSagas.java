package dev.idempotent.benchmark.saga;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The sagas of this starter, with default settings except for the lease.
 */
final class OwnSagas implements SagaContender {

	static final String NAME = "ours";

	private static final String LEAVE = "insert into saga_instance (id, name, status, epoch, steps, owner, due_at,"
			+ " deadline, attempts, fingerprint_version, fingerprint_digest, arguments, created_at) select md5(id) ||"
			+ " md5(id || 'b'), name, status, epoch, 0, 'gone', clock_timestamp() + ? * interval '1 ms', deadline,"
			+ " attempts, fingerprint_version, fingerprint_digest, arguments, created_at from saga_instance"
			+ " where status = 'EXECUTING' and name = 'Purchases.leave'";

	static final List<String> STEPS = List.of("order", "hold", "charge");

	private final String name;

	private final Store store;

	private final Purchases purchases;

	private final int ended;

	private final int open;

	private final Duration lease;

	/**
	 * Creates an application.
	 * @param ended how many sagas have ended before
	 * @param open how many more are leased for a day, as if other instances ran them
	 * @param lease how long a saga is owned without renewal
	 */
	OwnSagas(String name, Store.Servers servers, int ended, int open, Duration lease) {
		this.name = name;
		this.ended = ended;
		this.open = open;
		this.lease = lease;
		this.store = Store.open(name, servers, Shop.class, "idempotent.outbox.enabled=false",
				"idempotent.saga.initialize-schema=always", "idempotent.saga.lease=" + lease.toMillis() + "ms");
		this.purchases = this.store.bean(Purchases.class);
		fill();
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public void transactions() {
		this.purchases.inTransactions(UUID.randomUUID().toString());
	}

	@Override
	public void calls() {
		this.purchases.withCalls(UUID.randomUUID().toString());
	}

	/**
	 * Measures the time from the last write of an owner that dies until another one runs
	 * its saga: copies the row of a saga in progress, as such an owner leaves it.
	 */
	Duration takeOver() {
		CompletableFuture<Long> takenOver = this.purchases.awaitTakeOver();
		long left = this.purchases.leave(UUID.randomUUID().toString(), this.lease.toMillis());
		return Duration.ofNanos(takenOver.orTimeout(1, TimeUnit.MINUTES).join() - left);
	}

	/**
	 * Keeps sagas of before, which are the same number in each round.
	 */
	@Override
	public void tidy() {
		if (this.ended + this.open == 0) {
			this.store.database().sql().execute("truncate table work, saga_instance, saga_step");
		}
		else {
			this.store.database().sql().execute("truncate table work");
		}
		this.store.database().tidy();
	}

	private void fill() {
		fill("COMPLETED", this.ended, "a");
		fill("EXECUTING", this.open, "o");
	}

	private void fill(String status, int count, String ids) {
		this.store.database()
			.sql()
			.update("insert into saga_instance (id, name, status, epoch, steps, owner, due_at, deadline, attempts,"
					+ " fingerprint_version, fingerprint_digest, result, created_at) select md5(? || i) || md5('b' || i),"
					+ " 'Purchases.withCalls', ?, 1, 3, 'another', now() + i * interval '1 ms' + interval '1 day', now()"
					+ " + interval '2 days', 0, 1, md5('f' || i), 'null', now() from generate_series(1, ?) i", ids,
					status, count);
		for (int i = 0; i < STEPS.size(); i++) {
			this.store.database()
				.sql()
				.update("insert into saga_step (saga_id, name, seq, kind, state, begun_at, ended_at) select"
						+ " md5(? || i) || md5('b' || i), ?, ?, 'CALL', 'DONE', now(), now()"
						+ " from generate_series(1, ?) i", ids, STEPS.get(i), i + 1, count);
		}
	}

	@Override
	public void close() {
		this.store.close();
	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	@Import(Purchases.class)
	static class Shop {

	}

	static class Purchases {

		private final SagaSteps saga;

		private final JdbcTemplate jdbc;

		private volatile @Nullable Thread caller;

		private volatile CompletableFuture<Long> takenOver = new CompletableFuture<>();

		Purchases(SagaSteps saga, JdbcTemplate jdbc) {
			this.saga = saga;
			this.jdbc = jdbc;
		}

		/**
		 * Lets {@link #leave} tell when another thread than this one runs it.
		 */
		public CompletableFuture<Long> awaitTakeOver() {
			this.caller = Thread.currentThread();
			this.takenOver = new CompletableFuture<>();
			return this.takenOver;
		}

		@Saga(key = "#key", name = "Purchases.inTransactions")
		public void inTransactions(String key) {
			for (String step : STEPS) {
				this.saga.step(step).runInTransaction(() -> this.jdbc.update(Store.INSERT, step, 1));
			}
		}

		@Saga(key = "#key", name = "Purchases.withCalls")
		public void withCalls(String key) {
			for (String step : STEPS) {
				this.saga.step(step).run(() -> {
				});
			}
		}

		@Saga(key = "#key", name = "Purchases.leave")
		public long leave(String key, long lease) {
			if (Thread.currentThread() != this.caller) {
				this.takenOver.complete(System.nanoTime());
				return 0;
			}
			return Objects.requireNonNull(this.saga.step("leave", Long.class).run(() -> {
				this.jdbc.update(LEAVE, lease);
				return System.nanoTime();
			}));
		}

	}

}
