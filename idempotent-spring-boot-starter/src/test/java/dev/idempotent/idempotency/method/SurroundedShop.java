package dev.idempotent.idempotency.method;

import java.util.function.IntConsumer;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A shop that begins no transactions for its orders, except by the guarantee.
 */
class SurroundedShop {

	private final Effects effects;

	SurroundedShop(Effects effects) {
		this.effects = effects;
	}

	@Idempotent(key = "#key", lease = "2s", name = "shop.lease")
	public int lease(String key) {
		return this.effects.add(key);
	}

	@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "shop.transaction")
	public int transaction(String key) {
		return this.effects.add(key);
	}

	/**
	 * Leaves Spring without callbacks to call at the end of the transaction.
	 */
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "shop.clearing")
	public int clearing(String key) {
		int run = this.effects.add(key);
		TransactionSynchronizationManager.clearSynchronization();
		return run;
	}

	/**
	 * Through the proxy.
	 */
	static int place(AssertableApplicationContext context, Guarantee guarantee, String key) {
		SurroundedShop shop = context.getBean(SurroundedShop.class);
		return (guarantee == Guarantee.LEASE) ? shop.lease(key) : shop.transaction(key);
	}

	static void required(PlatformTransactionManager manager, Runnable work) {
		new TransactionTemplate(manager).executeWithoutResult((status) -> work.run());
	}

	static void requiresNew(PlatformTransactionManager manager, Runnable work) {
		TransactionTemplate template = new TransactionTemplate(manager);
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		template.executeWithoutResult((status) -> work.run());
	}

	static void beforeCommit(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				work.run();
			}

		});
	}

	static void beforeCompletion(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCompletion() {
				work.run();
			}

		});
	}

	static void afterCommit(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				work.run();
			}

		});
	}

	static void afterCompletion(IntConsumer work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				work.accept(status);
			}

		});
	}

}
