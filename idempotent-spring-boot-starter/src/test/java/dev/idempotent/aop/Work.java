package dev.idempotent.aop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.idempotency.method.Effects;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The work of shops, which records the transaction around it.
 */
public class Work {

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
	 * @param name that of the transaction
	 * @param records how many its own connection saw
	 * @param committedRecords how many others saw
	 * @param thread where it ran
	 */
	record Seen(boolean transaction, @Nullable String name, int records, int committedRecords, String thread) {
	}

}
