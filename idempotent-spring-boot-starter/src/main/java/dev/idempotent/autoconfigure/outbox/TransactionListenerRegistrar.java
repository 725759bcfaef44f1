package dev.idempotent.autoconfigure.outbox;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.transaction.OutboxTransactionListener;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Registers the outbox with all transaction managers once the outbox is on. A bean that
 * requests the {@link Outbox} switches it on.
 */
final class TransactionListenerRegistrar implements BeanPostProcessor {

	private final OutboxActivation activation;

	private final OutboxTransactionListener listener;

	TransactionListenerRegistrar(OutboxActivation activation, OutboxTransactionListener listener) {
		this.activation = activation;
		this.listener = listener;
	}

	OutboxTransactionListener listener() {
		return this.listener;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof ConfigurableTransactionManager manager) {
			this.activation.whenActive(() -> register(manager));
		}
		else if (bean instanceof Outbox) {
			this.activation.activate("the Outbox has been requested");
		}
		return bean;
	}

	/**
	 * Replaces the collection, which other threads may be iterating over.
	 */
	private void register(ConfigurableTransactionManager manager) {
		Collection<TransactionExecutionListener> registered = manager.getTransactionExecutionListeners();
		if (!registered.contains(this.listener)) {
			List<TransactionExecutionListener> all = new ArrayList<>(registered);
			all.add(this.listener);
			manager.setTransactionExecutionListeners(all);
		}
	}

}
