package dev.idempotent.saga.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.store.SagaStore;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * A process that runs sagas on a store, and dies at one of the moments at which it
 * affects the world: before or after a call of the store, of a service, or a commit.
 */
final class SimulatedProcess {

	static final Duration LEASE = Duration.ofSeconds(30);

	private final int lastMoment;

	private int moments;

	private boolean dead;

	private final SagaEngine engine;

	/**
	 * Creates a process.
	 * @param lastMoment the moment of its death, counted from 1; 0 to survive
	 */
	SimulatedProcess(SagaStore store, int lastMoment, int attempts, SagaObserver... observers) {
		this.lastMoment = lastMoment;
		SagaSettings settings = new SagaSettings(UUID.randomUUID().toString(), LEASE, Duration.ofMinutes(10), attempts,
				1, Duration.ZERO, Duration.ofHours(24), Duration.ofHours(12), Duration.ofHours(1), null);
		this.engine = new SagaEngine(mortal(store), new Transactions(), settings, new FailureClassifier(),
				PayloadEncryption.NONE, List.of(observers));
	}

	SagaEngine engine() {
		return this.engine;
	}

	/**
	 * The number of moments up to now.
	 */
	int moments() {
		return this.moments;
	}

	/**
	 * Calls a service.
	 */
	<T extends @Nullable Object> T call(Supplier<T> service) {
		live();
		T result = service.get();
		live();
		return result;
	}

	private void live() {
		this.dead |= ++this.moments == this.lastMoment;
		if (this.dead) {
			throw new Death();
		}
	}

	private SagaStore mortal(SagaStore store) {
		return (SagaStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { SagaStore.class },
				(proxy, method, arguments) -> {
					// A transaction would be left on the thread of the next process.
					boolean begins = method.getName().equals("begin");
					live();
					try {
						Object result = method.invoke(store, arguments);
						if (!begins) {
							live();
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	/**
	 * Transactions whose effects register their own undo.
	 */
	private final class Transactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			live();
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

	/**
	 * The simulated death of a process: whatever it calls from now on fails.
	 */
	static final class Death extends Error {

		Death() {
			super("The process is dead", null, false, false);
		}

	}

}
