package dev.idempotent.aop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.method.Effects;
import dev.idempotent.idempotency.method.MethodApplication;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Applications whose store and work record what they observe.
 */
final class PlacementApplication {

	private PlacementApplication() {
	}

	static ApplicationContextRunner with(Class<?>... configurations) {
		return MethodApplication.with(configurations)
			.withUserConfiguration(Probes.class)
			.withAllowCircularReferences(true);
	}

	@Configuration(proxyBeanMethods = false)
	static class Probes {

		@Bean
		Outside outside(DataSource dataSource) {
			return new Outside(dataSource);
		}

		@Bean
		@Primary
		ProbedStore probedStore(@Qualifier("store") IdempotencyStore store, Outside outside) {
			return new ProbedStore(store, outside);
		}

		@Bean
		Work work(Effects effects, Outside outside) {
			return new Work(effects, outside);
		}

	}

	/**
	 * Reads committed data outside the transaction of the thread.
	 */
	public static class Outside {

		private final JdbcClient database;

		Outside(DataSource dataSource) {
			// No key under which a transaction binds its connection.
			this.database = JdbcClient.create(new DelegatingDataSource(dataSource));
		}

		List<String> effects() {
			return this.database.sql("select what from effect").query(String.class).list();
		}

		int records() {
			return this.database.sql("select count(*) from idempotency_record").query(Integer.class).single();
		}

	}

	/**
	 * Records the state of the database at each call.
	 */
	public static class ProbedStore extends ForwardingStore {

		private final IdempotencyStore store;

		private final Outside outside;

		private final List<String> claims = new CopyOnWriteArrayList<>();

		private final AtomicInteger claimsInTransaction = new AtomicInteger();

		private final List<List<String>> completions = new CopyOnWriteArrayList<>();

		private final List<String> releases = new CopyOnWriteArrayList<>();

		ProbedStore(IdempotencyStore store, Outside outside) {
			this.store = store;
			this.outside = outside;
		}

		@Override
		protected IdempotencyStore target() {
			return this.store;
		}

		/**
		 * The thread of each claim.
		 */
		List<String> claims() {
			return this.claims;
		}

		int claimsInTransaction() {
			return this.claimsInTransaction.get();
		}

		/**
		 * The effects that were committed at each completion.
		 */
		List<List<String>> completions() {
			return this.completions;
		}

		/**
		 * The thread of each release.
		 */
		List<String> releases() {
			return this.releases;
		}

		@Override
		public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
			this.claims.add(Thread.currentThread().getName());
			if (TransactionSynchronizationManager.isActualTransactionActive()) {
				this.claimsInTransaction.incrementAndGet();
			}
			return super.claim(key, fingerprint, token, lease);
		}

		@Override
		public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
				Duration retention) {
			this.completions.add(this.outside.effects());
			return super.complete(key, fingerprint, token, response, retention);
		}

		@Override
		public boolean release(IdempotencyKey key, String token) {
			this.releases.add(Thread.currentThread().getName());
			return super.release(key, token);
		}

	}

	/**
	 * The work of shops, which records the transaction around it.
	 */
	public static class Work {

		private final Effects effects;

		private final Outside outside;

		private final List<Seen> seen = new CopyOnWriteArrayList<>();

		Work(Effects effects, Outside outside) {
			this.effects = effects;
			this.outside = outside;
		}

		/**
		 * Has an effect, and then fails for a bad order.
		 */
		Shop.Receipt run(Shop.Order order) {
			this.seen.add(new Seen(TransactionSynchronizationManager.isActualTransactionActive(),
					TransactionSynchronizationManager.getCurrentTransactionName(), this.effects.records(),
					this.outside.records(), Thread.currentThread().getName()));
			Shop.Receipt receipt = new Shop.Receipt(this.effects.add(order.id()));
			if (order.isBad()) {
				throw new IllegalStateException("This order fails");
			}
			return receipt;
		}

		List<Seen> seen() {
			return this.seen;
		}

		/**
		 * What a run has seen.
		 *
		 * @param transaction whether one was active
		 * @param name the name of the transaction
		 * @param records how many its own connection saw
		 * @param committedRecords how many others saw
		 * @param thread where it ran
		 */
		record Seen(boolean transaction, @Nullable String name, int records, int committedRecords, String thread) {
		}

	}

	/**
	 * The operations of the beans under test, one for each guarantee.
	 */
	public interface Shop {

		/**
		 * Under {@link Guarantee#LEASE}.
		 */
		Receipt order(Order order);

		/**
		 * Under {@link Guarantee#TRANSACTION}.
		 */
		Receipt book(Order order);

		static Receipt call(Shop shop, Guarantee guarantee, Order order) {
			return (guarantee == Guarantee.LEASE) ? shop.order(order) : shop.book(order);
		}

		record Order(String id) {

			boolean isBad() {
				return this.id.startsWith("bad");
			}

		}

		record Receipt(int number) {
		}

	}

}
