package dev.idempotent.idempotency.method;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.FailingListener;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A shop whose orders are placed under one guarantee, in transactions of its caller.
 */
final class OrderShop {

	private final Orders orders;

	private final Effects effects;

	private final Guarantee guarantee;

	private final PlatformTransactionManager manager;

	private final JdbcTemplate jdbc;

	OrderShop(AssertableApplicationContext context, Guarantee guarantee) {
		this.orders = context.getBean(Orders.class);
		this.effects = context.getBean(Effects.class);
		this.guarantee = guarantee;
		this.manager = context.getBean(PlatformTransactionManager.class);
		this.jdbc = new JdbcTemplate(context.getBean(DataSource.class));
	}

	int place(String key) {
		return place(key, 1);
	}

	int place(String key, int amount) {
		return (this.guarantee == Guarantee.LEASE) ? this.orders.underLease(key, amount)
				: this.orders.inTransaction(key, amount);
	}

	Effects effects() {
		return this.effects;
	}

	/**
	 * As part of the current transaction.
	 */
	void forgetKeys() {
		this.jdbc.update("delete from idempotency_record");
	}

	/**
	 * In a transaction that only the guarantee begins.
	 */
	void placeAlone(String key) {
		this.orders.alone(key);
	}

	FailingListener failingListener() {
		return FailingListener.of(this.manager);
	}

	/**
	 * Lets a caller commit after a method that has joined its transaction has failed.
	 */
	void forgiveParticipants() {
		((AbstractPlatformTransactionManager) this.manager).setGlobalRollbackOnParticipationFailure(false);
	}

	void withoutSynchronizations(boolean without) {
		((AbstractPlatformTransactionManager) this.manager)
			.setTransactionSynchronization(without ? AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER
					: AbstractPlatformTransactionManager.SYNCHRONIZATION_ALWAYS);
	}

	void placeForgivingly(String key) {
		this.orders.forgivingly(key);
	}

	void inTransaction(Runnable work) {
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> work.run());
	}

	void tryInTransaction(Runnable work) {
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
			work.run();
			status.setRollbackOnly();
		});
	}

	void inAnotherTransaction(Runnable work) {
		run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, work);
	}

	void nested(Runnable work) {
		run(TransactionDefinition.PROPAGATION_NESTED, work);
	}

	void nestedOrAlone(boolean nested, Runnable work) {
		run(nested ? TransactionDefinition.PROPAGATION_NESTED : TransactionDefinition.PROPAGATION_REQUIRES_NEW, work);
	}

	void readOnly(Runnable work) {
		TransactionTemplate template = new TransactionTemplate(this.manager);
		template.setReadOnly(true);
		template.executeWithoutResult((status) -> work.run());
	}

	private void run(int propagation, Runnable work) {
		TransactionTemplate template = new TransactionTemplate(this.manager);
		template.setPropagationBehavior(propagation);
		template.executeWithoutResult((status) -> work.run());
	}

	static class Orders {

		private final Effects effects;

		Orders(Effects effects) {
			this.effects = effects;
		}

		@Transactional
		@Idempotent(key = "#key", name = "orders.under-lease")
		public int underLease(String key, int amount) {
			return place(key);
		}

		@Transactional
		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "orders.in-transaction")
		public int inTransaction(String key, int amount) {
			return place(key);
		}

		@Transactional(noRollbackFor = IllegalArgumentException.class)
		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "orders.forgivingly")
		public int forgivingly(String key) {
			return place(key);
		}

		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "orders.alone")
		public int alone(String key) {
			return place(key);
		}

		private int place(String key) {
			int run = this.effects.add(key);
			if (key.equals("bad")) {
				throw new IllegalArgumentException("This one fails");
			}
			return run;
		}

	}

}
