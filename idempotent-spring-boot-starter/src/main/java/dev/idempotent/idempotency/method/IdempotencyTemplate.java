package dev.idempotent.idempotency.method;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;
import tools.jackson.databind.JavaType;

/**
 * Runs work once per key and replays its result, for code without annotations. Immutable
 * and thread-safe: each {@code with} method returns another template.
 */
public final class IdempotencyTemplate {

	private final MethodSettings settings;

	private final OperationSettings defaults;

	private final Supplier<IdempotencyTransactions> transactions;

	/**
	 * Creates a template with the defaults of the application.
	 * @param settings the settings of the application
	 */
	public IdempotencyTemplate(MethodSettings settings) {
		this(settings, settings.defaults());
	}

	private IdempotencyTemplate(MethodSettings settings, OperationSettings defaults) {
		this.settings = settings;
		this.defaults = defaults;
		this.transactions = SingletonSupplier.of(this::findTransactions);
	}

	/**
	 * Returns a template with another guarantee.
	 * @param guarantee the guarantee; {@link Guarantee#DEFAULT} for the one of the
	 * application
	 * @return the template
	 */
	public IdempotencyTemplate withGuarantee(Guarantee guarantee) {
		return with((guarantee != Guarantee.DEFAULT) ? guarantee : this.settings.defaults().guarantee(),
				this.defaults.lease(), this.defaults.retention(), this.defaults.onPending());
	}

	/**
	 * Returns a template with another lease and retention.
	 * @param lease how long a claim holds without renewal, at least 1 ms
	 * @param retention how long a result is replayed, at least the lease
	 * @return the template
	 */
	public IdempotencyTemplate withLeaseAndRetention(Duration lease, Duration retention) {
		if (lease.toMillis() < 1 || retention.compareTo(lease) < 0) {
			throw new IllegalArgumentException("The lease (" + lease + ") must be at least 1 ms, and the retention ("
					+ retention + ") at least the lease");
		}
		return with(this.defaults.guarantee(), lease, retention, this.defaults.onPending());
	}

	/**
	 * Returns a template that handles duplicates differently.
	 * @param onPending how to handle a duplicate while the first run is in progress
	 * @return the template
	 */
	public IdempotencyTemplate withOnPending(OnPending onPending) {
		return with(this.defaults.guarantee(), this.defaults.lease(), this.defaults.retention(), onPending);
	}

	/**
	 * Runs work once under a key, or replays its result.
	 * @param <T> the type of the result
	 * @param operation the name of the operation; keys of different operations are
	 * independent. Must not be the name of an {@code @Idempotent} method
	 * @param key the key, which identifies all inputs of the work
	 * @param type the type as which a stored result is read
	 * @param work the work
	 * @return the result of this or an earlier run
	 * @throws dev.idempotent.idempotency.IdempotencyPendingException if the same work is
	 * running
	 * @throws dev.idempotent.idempotency.IdempotencyResultException if the work has been
	 * done and its result cannot be replayed
	 * @throws dev.idempotent.idempotency.IdempotencyStoreException if the key could not
	 * be claimed
	 */
	public <T extends @Nullable Object> T execute(String operation, String key, Class<T> type, Supplier<T> work) {
		return execute(operation, key, (Type) type, work);
	}

	/**
	 * Runs work once under a key, or replays its result of a generic type.
	 * @param <T> the type of the result
	 * @param operation the name of the operation; keys of different operations are
	 * independent
	 * @param key the key, which identifies all inputs of the work
	 * @param type the type as which a stored result is read, such as the type of a
	 * {@code ParameterizedTypeReference} of Spring
	 * @param work the work
	 * @return the result of this or an earlier run
	 * @throws dev.idempotent.idempotency.IdempotencyPendingException as above
	 * @throws dev.idempotent.idempotency.IdempotencyResultException as above
	 * @throws dev.idempotent.idempotency.IdempotencyStoreException as above
	 */
	@SuppressWarnings({ "unchecked", "NullAway" })
	public <T extends @Nullable Object> T execute(String operation, String key, Type type, Supplier<T> work) {
		if (operation.isBlank() || key.isBlank()) {
			throw new IllegalArgumentException("The operation and the key must not be blank");
		}
		MethodOperation named = new MethodOperation(named(operation), Kind.TEMPLATE,
				new ResultCodec(this.settings.json(), this.settings.values(), this.settings.json().constructType(type),
						operation)
					.requireComparable(),
				false, Propagation.REQUIRED,
				(this.defaults.guarantee() == Guarantee.TRANSACTION) ? this.transactions.get() : null);
		IdempotencyKey claimed = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, this.settings.namespace(), "", operation,
				key);
		try {
			return (T) named.run(this.settings, claimed, Fingerprint.of(List.of()), work::get);
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException("A Supplier must not throw checked exceptions", ex);
		}
	}

	/**
	 * Runs a step of the current run, or returns its recorded result if an earlier run of
	 * the same key has completed it. The settings of the run apply, not the settings of
	 * this template.
	 * @param <T> the type of the result
	 * @param name the name of the step, unique in the run and the same in each run
	 * @param type the type as which the result is read, in each run
	 * @param work the work, which commits before it returns
	 * @return the result as read from its JSON
	 * @throws IllegalStateException outside a run under {@link Guarantee#LEASE}, in an
	 * open transaction, in another step, or if the run has called a step of that name
	 * @throws dev.idempotent.idempotency.IdempotencyPendingException if another run has
	 * taken the key over
	 * @throws dev.idempotent.idempotency.IdempotencyMismatchException if the step was
	 * recorded for another request with the same key
	 * @throws dev.idempotent.idempotency.IdempotencyResultException if the step has been
	 * done and its result cannot be written or read
	 * @throws dev.idempotent.idempotency.IdempotencyStoreException if the step could not
	 * be claimed; it was not run
	 */
	public <T extends @Nullable Object> T step(String name, Class<T> type, Supplier<T> work) {
		return step(name, (Type) type, work);
	}

	/**
	 * Runs a step with a result of a generic type.
	 * @param <T> the type of the result
	 * @param name the name of the step
	 * @param type the type as which the result is read, such as the type of a
	 * {@code ParameterizedTypeReference} of Spring
	 * @param work the work, which commits before it returns
	 * @return the result as read from its JSON
	 * @throws IllegalStateException as {@link #step(String, Class, Supplier)} does, like
	 * all other exceptions
	 */
	@SuppressWarnings({ "unchecked", "NullAway" })
	public <T extends @Nullable Object> T step(String name, Type type, Supplier<T> work) {
		return (T) runStep(name, this.settings.json().constructType(type), work);
	}

	/**
	 * Runs a step without a result.
	 * @param name the name of the step
	 * @param work the work, which commits before it returns
	 * @throws IllegalStateException as {@link #step(String, Class, Supplier)} does, like
	 * all other exceptions
	 */
	public void step(String name, Runnable work) {
		step(name, void.class, () -> {
			work.run();
			return null;
		});
	}

	private @Nullable Object runStep(String name, JavaType type, Supplier<? extends @Nullable Object> work) {
		if (name.isBlank()) {
			throw new IllegalArgumentException("The name of a step must not be blank");
		}
		refuseTransaction(name);
		ResultCodec codec = ResultCodec.ofStep(name, this.settings.json(), this.settings.values(), type);
		AtomicReference<@Nullable IdempotencyResultException> unwritable = new AtomicReference<>();
		StoredResponse recorded = this.settings.engine().step(name, () -> {
			Object result = work.get();
			try {
				return codec.encode(result);
			}
			catch (IdempotencyResultException ex) {
				// The work is done, so that this must not free the step.
				unwritable.set(ex);
				return StoredResponse.notKept();
			}
		});
		IdempotencyResultException failure = unwritable.get();
		if (failure != null) {
			throw failure;
		}
		// Read back in the first run, too, so that all runs see the same.
		return codec.decode(recorded);
	}

	private static void refuseTransaction(String name) {
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException("The step '" + name + "' was called in an open transaction, perhaps that "
					+ "of Guarantee.TRANSACTION: if it rolls back, the step is recorded although its work is lost. "
					+ "Call the step outside of a transaction, under Guarantee.LEASE, and let its work begin one");
		}
	}

	private IdempotencyTransactions findTransactions() {
		if (this.settings.transactionSource() == null) {
			throw new IdempotentConfigurationException(
					"An IdempotencyTemplate has Guarantee.TRANSACTION, but there is no database for its records.",
					"Add spring-boot-starter-jdbc (or -data-jpa) with a DataSource, or use Guarantee.LEASE.");
		}
		return this.settings.transactionSource().joiningTransactions("IdempotencyTemplate");
	}

	private OperationSettings named(String operation) {
		return new OperationSettings(operation, this.defaults.guarantee(), this.defaults.lease(),
				this.defaults.retention(), this.defaults.onPending());
	}

	private IdempotencyTemplate with(Guarantee guarantee, Duration lease, Duration retention, OnPending onPending) {
		return new IdempotencyTemplate(this.settings,
				new OperationSettings("", guarantee, lease, retention, onPending));
	}

}
