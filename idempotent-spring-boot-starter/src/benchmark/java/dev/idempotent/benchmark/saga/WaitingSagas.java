package dev.idempotent.benchmark.saga;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import dev.idempotent.benchmark.Application;
import dev.idempotent.benchmark.Database;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An instance that has nothing to do, beside sagas that wait for a signal, and another
 * application on the same tables that only sends signals.
 */
final class WaitingSagas implements WaitContender {

	private static final String[] PROPERTIES = { "idempotent.outbox.enabled=false",
			"idempotent.saga.initialize-schema=always" };

	private final String name;

	private final Store store;

	private final Application sender;

	private final Bookings bookings;

	/**
	 * Creates the applications.
	 * @param waiting how many sagas wait all the time
	 */
	WaitingSagas(String name, Store.Servers servers, int waiting) {
		this.name = name;
		this.store = Store.open(name, servers, Agency.class, PROPERTIES);
		this.sender = this.store.another(Webhooks.class, PROPERTIES);
		this.bookings = this.store.bean(Bookings.class);
		fill(waiting);
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Database database() {
		return this.store.database();
	}

	@Override
	public Duration signal(boolean elsewhere) {
		String key = UUID.randomUUID().toString();
		Sagas sagas = this.store.bean(Sagas.class);
		IdempotencyKey id = sagas.start(() -> this.bookings.book(key));
		while (sagas.find(id).map(SagaSnapshot::waiting).isEmpty()) {
			Thread.onSpinWait();
		}
		CompletableFuture<Long> next = this.bookings.expect(key);
		WaitContender.pauseAtRandom();
		long sent = elsewhere ? send(this.sender.bean(Sagas.class), this.sender, id)
				: send(sagas, this.store.application(), id);
		return Duration.ofNanos(next.orTimeout(1, TimeUnit.MINUTES).join() - sent);
	}

	private static long send(Sagas sagas, Application application, IdempotencyKey id) {
		TransactionTemplate transaction = new TransactionTemplate(application.bean(PlatformTransactionManager.class));
		return Objects.requireNonNull(transaction.execute((status) -> {
			sagas.signal(id, "paid", 100);
			return System.nanoTime();
		}));
	}

	private void fill(int count) {
		this.store.database()
			.sql()
			.update("insert into saga_instance (id, name, status, epoch, steps, waits_for, due_at, deadline, attempts,"
					+ " fingerprint_version, fingerprint_digest, arguments, created_at) select md5('w' || i) ||"
					+ " md5('b' || i), 'booking', 'EXECUTING', 1, 1, 'paid', now() + interval '1 day' + i *"
					+ " interval '1 ms', now() + interval '2 days', 0, 1, md5('f' || i), '', now()"
					+ " from generate_series(1, ?) i", count);
		this.store.database()
			.sql()
			.update("insert into saga_step (saga_id, name, seq, kind, state, begun_at) select id, 'paid', 1, 'SIGNAL',"
					+ " 'ACTING', now() from saga_instance");
		this.store.database()
			.sql()
			.update("insert into saga_signal (saga_id, name, state, changed_at, expires_at) select id, 'paid',"
					+ " 'AWAITED', now(), now() + interval '2 days' from saga_instance");
	}

	@Override
	public void close() {
		this.sender.close();
		this.store.close();
	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	@Import(Bookings.class)
	static class Agency {

	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class Webhooks {

	}

	static class Bookings {

		private final SagaSteps saga;

		private final Map<String, CompletableFuture<Long>> expected = new ConcurrentHashMap<>();

		Bookings(SagaSteps saga) {
			this.saga = saga;
		}

		/**
		 * Returns when the step after the wait begins.
		 */
		public CompletableFuture<Long> expect(String key) {
			return this.expected.computeIfAbsent(key, (unused) -> new CompletableFuture<>());
		}

		@Saga(key = "#key", name = "booking", timeout = "7d")
		public void book(String key) {
			int paid = this.saga.await("paid", Integer.class).within(Duration.ofDays(1));
			this.saga.step("confirm").run(() -> {
				expect(key).complete(System.nanoTime());
			});
		}

	}

}
