package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.outbox.transaction.OutboxTransactionListener;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Lets the outbox know of all transactions, whichever manager begins them.
 */
final class TransactionListenerRegistrar implements BeanPostProcessor {

	private final OutboxTransactionListener listener;

	TransactionListenerRegistrar(OutboxTransactionListener listener) {
		this.listener = listener;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof ConfigurableTransactionManager manager
				&& !manager.getTransactionExecutionListeners().contains(this.listener)) {
			manager.addListener(this.listener);
		}
		return bean;
	}

}
