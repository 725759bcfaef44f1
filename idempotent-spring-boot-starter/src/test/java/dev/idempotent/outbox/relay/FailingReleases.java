package dev.idempotent.outbox.relay;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.outbox.OrderedOutboxStore;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.dao.TransientDataAccessResourceException;

/**
 * Makes the first releases of ordered events fail before they reach the database.
 */
final class FailingReleases implements BeanPostProcessor {

	static final int MAX = 2;

	private final AtomicInteger releases = new AtomicInteger();

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof OrderedOutboxStore store) ? failing(store) : bean;
	}

	/**
	 * How many releases failed.
	 */
	int failures() {
		return Math.min(this.releases.get(), MAX);
	}

	private Object failing(OrderedOutboxStore store) {
		return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { OrderedOutboxStore.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("release") && this.releases.incrementAndGet() <= MAX) {
						throw new TransientDataAccessResourceException("of the test");
					}
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
