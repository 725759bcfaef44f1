package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.idempotent.concurrent.Observers;
import dev.idempotent.concurrent.Workers;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.Cancellation;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.Signal;
import dev.idempotent.saga.store.SagaStore.SignalReceipt;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.transaction.ObservedTransaction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs the sagas of an application. Thread-safe.
 */
public final class SagaEngine implements AutoCloseable {

	/**
	 * The beginning of the names of the threads that run sagas in the background.
	 */
	public static final String THREADS = "saga-";

	/**
	 * The beginning of the reason of a saga that was cancelled.
	 */
	public static final String CANCELLED = "Cancelled: ";

	private static final Logger logger = LoggerFactory.getLogger(SagaEngine.class);

	private static final long POLL_MILLIS = 100;

	/**
	 * A run without an outcome that takes longer has waited for a service.
	 */
	private static final Duration SLOW = Duration.ofSeconds(1);

	/**
	 * How often a saga may appear and disappear during one call.
	 */
	private static final int MOST_FIRST_RUNS = 3;

	private final SagaRun.Resources resources;

	private final Map<SagaRun, LiveRun> live = new ConcurrentHashMap<>();

	private final SagaTraces traces;

	private final SagaWorkers workers;

	private volatile Map<String, SagaDefinition> served = Map.of();

	private volatile boolean stopping;

	/**
	 * Creates an engine that runs no sagas in the background until it is opened.
	 * @param store the journal
	 * @param transactions the transactions of steps, on the database of the journal
	 * @param settings the settings
	 * @param failures classifies the exceptions of steps
	 * @param encryption protects arguments and results
	 * @param observers observe the sagas
	 */
	public SagaEngine(SagaStore store, PlatformTransactionManager transactions, SagaSettings settings,
			FailureClassifier failures, PayloadEncryption encryption, List<SagaObserver> observers) {
		this(store, transactions, settings, failures, encryption, observers, SagaTraces.NONE, Workers.daemons(THREADS));
	}

	/**
	 * Creates an engine that runs no sagas in the background until it is opened.
	 * @param store the journal
	 * @param transactions the transactions of steps, on the database of the journal
	 * @param settings the settings
	 * @param failures classifies the exceptions of steps
	 * @param encryption protects arguments and results
	 * @param observers observe the sagas
	 * @param traces the traces of sagas that run in the background
	 * @param threads creates the threads of the sagas that run in the background, with
	 * names that begin with {@value #THREADS}
	 */
	public SagaEngine(SagaStore store, PlatformTransactionManager transactions, SagaSettings settings,
			FailureClassifier failures, PayloadEncryption encryption, List<SagaObserver> observers, SagaTraces traces,
			ThreadFactory threads) {
		this.traces = traces;
		this.resources = new SagaRun.Resources(store, transactions, settings, failures, new SagaRun.Values(encryption),
				new Observers<>(observers, logger, "A SagaObserver", "its observation is missing"),
				ConcurrentHashMap.newKeySet());
		this.workers = new SagaWorkers(settings, threads, this::takeOverDue, this::resume);
	}

	/**
	 * Starts the background threads.
	 * @param definitions the sagas that this process runs, also for other instances
	 */
	public void open(Collection<SagaDefinition> definitions) {
		this.served = definitions.stream()
			.collect(Collectors.toUnmodifiableMap(SagaDefinition::name, Function.identity()));
		this.workers.start(this.served.keySet(), this::renew, this::abandonLate);
	}

	/**
	 * The steps of the saga that the calling thread runs.
	 * @return the steps
	 */
	public SagaSteps steps() {
		return new SagaExecution.BoundSteps();
	}

	/**
	 * The id of this process, by which it owns sagas.
	 * @return the id, another one after each start
	 */
	public String process() {
		return this.resources.settings().process();
	}

	/**
	 * The number of sagas that this process runs at the moment.
	 * @return 0 or more
	 */
	public int running() {
		return this.live.size();
	}

	/**
	 * Runs a saga, or returns the end of the saga with this id.
	 * @param definition the saga
	 * @param id its id
	 * @param fingerprint the fingerprint of the arguments
	 * @param arguments the arguments
	 * @return the result
	 * @throws IdempotencyMismatchException if the id has a saga with other arguments
	 * @throws IdempotencyPendingException if the saga is still open, a
	 * {@link SagaWaitingException} if it waits for a signal or for some time
	 * @throws SagaCompensatedException if the saga was undone
	 * @throws SagaHaltedException if an operator must decide
	 * @throws org.springframework.dao.DataAccessException if the database is unreachable
	 * @throws Throwable what the body throws before its first step
	 */
	public @Nullable Object call(SagaDefinition definition, IdempotencyKey id, Fingerprint fingerprint,
			byte[] arguments) throws Throwable {
		SagaExecution.requireNone(definition.name());
		if (TransactionSynchronizationManager.isActualTransactionActive() || ObservedTransaction.isUnobservable()) {
			throw new IllegalStateException("The saga " + definition.name() + " is called in a transaction, which "
					+ "cannot include its steps. Call it outside (an @Idempotent handler that calls it needs "
					+ "guarantee = Guarantee.LEASE), or start it with Sagas.start");
		}
		NewSaga saga = create(definition, id, fingerprint, arguments, SagaStatus.EXECUTING);
		try {
			return call(definition, saga);
		}
		catch (TransactionException ex) {
			// Below another exception, Spring MVC takes a broken connection for one to
			// its client, and answers 200 without a body.
			throw new DataAccessResourceFailureException("The saga " + definition.name() + " has no transaction", ex);
		}
	}

	/**
	 * Runs a saga, or finds out how the one with its id has ended. If its own run was
	 * released, it waits and continues the saga.
	 */
	private @Nullable Object call(SagaDefinition definition, NewSaga saga) throws Throwable {
		long giveUp = System.nanoTime() + this.resources.settings().waitTimeout().toNanos();
		int firstRuns = 0;
		boolean waits = false;
		StoredSaga stored = null;
		while (true) {
			RunEnd end;
			if (stored != null) {
				end = takeOverOrWait(definition, stored, waits, giveUp);
			}
			else if (firstRuns++ < MOST_FIRST_RUNS) {
				end = run(new SagaRun(this.resources, definition, saga));
			}
			else {
				throw new IdempotencyPendingException(saga.id(), saga.lease());
			}
			switch (end.kind()) {
				case COMPLETED -> {
					return end.result();
				}
				case COMPENSATED -> throw new SagaCompensatedException(saga.id(), Objects.requireNonNull(end.reason()));
				case HALTED -> throw new SagaHaltedException(saga.id());
				case CONTENDED -> throw new IdempotencyPendingException(saga.id(), saga.lease());
				case WAITING -> throw waiting(saga.id(), Objects.requireNonNull(end.reason()), end.due());
				case RELEASED, LOST -> waits = true;
				case EXISTS, REFUSED, FAILED -> {
				}
			}
			stored = find(saga, end);
			if (stored != null && !stored.status().isOpen()) {
				return ended(definition, stored);
			}
		}
	}

	/**
	 * Finds the saga that a call has begun, or that was there before.
	 * @return {@code null} if another first run is needed
	 */
	private @Nullable StoredSaga find(NewSaga saga, RunEnd end) throws Throwable {
		StoredSaga stored;
		try {
			stored = this.resources.store().find(saga.id());
		}
		catch (RuntimeException ex) {
			if (end.failure() != null) {
				ex.addSuppressed(end.failure());
			}
			throw ex;
		}
		if (stored == null && end.failure() != null) {
			throw end.failure();
		}
		if (stored == null && end.kind() == RunEnd.Kind.REFUSED) {
			throw new SagaCompensatedException(saga.id(), Objects.requireNonNull(end.reason()));
		}
		if (stored != null && saga.fingerprint().contradicts(stored.fingerprint())) {
			throw new IdempotencyMismatchException(saga.id());
		}
		return stored;
	}

	private @Nullable Object ended(SagaDefinition definition, StoredSaga stored) {
		IdempotencyKey id = stored.owner().id();
		return switch (stored.status()) {
			case COMPLETED -> definition.readResult(
					this.resources.values().unseal(Objects.requireNonNull(stored.result()), id, SagaRun.Values.RESULT));
			case COMPENSATED ->
				throw new SagaCompensatedException(id, Objects.requireNonNullElse(stored.reason(), SagaRun.DEADLINE));
			case HALTED -> throw new SagaHaltedException(id);
			case STARTED, EXECUTING, COMPENSATING -> throw new IllegalStateException("The saga is open");
		};
	}

	/**
	 * Takes the saga of a call over if it has no owner. Otherwise waits, but only for a
	 * saga that the call has run before.
	 */
	private RunEnd takeOverOrWait(SagaDefinition definition, StoredSaga stored, boolean waits, long giveUp) {
		IdempotencyKey id = stored.owner().id();
		if (waits && this.stopping) {
			throw new IdempotencyPendingException(id, Duration.ZERO);
		}
		Duration left = Duration.ofNanos(giveUp - System.nanoTime());
		boolean timedOut = left.isNegative() || left.isZero();
		if (stored.isDue() && !(waits && timedOut)) {
			SagaSettings settings = this.resources.settings();
			StoredSaga taken = this.resources.store().takeOver(id, settings.process(), settings.lease());
			if (taken != null) {
				this.resources.observers().each((observer) -> observer.takenOver(taken.name()));
				return run(new SagaRun(this.resources, definition, taken));
			}
		}
		Duration due = stored.due().isNegative() ? Duration.ZERO : stored.due();
		if (stored.waitsFor() != null && !stored.isDue()) {
			throw waiting(id, stored.waitsFor(), due);
		}
		if (!waits || timedOut || !pause(Math.min(POLL_MILLIS, left.toMillis()))) {
			throw new IdempotencyPendingException(id, due);
		}
		return RunEnd.of(RunEnd.Kind.RELEASED);
	}

	/**
	 * The signal may arrive before the wait has lasted as long as it may.
	 */
	private SagaWaitingException waiting(IdempotencyKey id, String wait, Duration left) {
		Duration lease = this.resources.settings().lease();
		return new SagaWaitingException(id, wait, left, (left.compareTo(lease) < 0) ? left : lease);
	}

	private static boolean pause(long millis) {
		try {
			Thread.sleep(Math.max(1, millis));
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/**
	 * Starts a saga in the background, as part of the current transaction if there is
	 * one.
	 * @param definition the saga
	 * @param id its id
	 * @param fingerprint the fingerprint of the arguments
	 * @param arguments the arguments
	 * @return the id
	 * @throws IdempotencyMismatchException if the id has a saga with other arguments
	 * @throws IdempotencyPendingException if another transaction is starting it
	 */
	public IdempotencyKey start(SagaDefinition definition, IdempotencyKey id, Fingerprint fingerprint,
			byte[] arguments) {
		NewSaga saga = create(definition, id, fingerprint, arguments, SagaStatus.STARTED);
		StartedSagas.start(this.resources.store(), saga, (started) -> wake(saga.name(), started));
		return id;
	}

	/**
	 * Takes a saga over that is due, if this process serves it.
	 */
	private void wake(String name, IdempotencyKey id) {
		if (this.served.containsKey(name)) {
			this.workers.submit(name, () -> this.takeOver(id));
		}
	}

	/**
	 * Sends a signal to a saga, as part of the current transaction if there is one.
	 * @param id the id of the saga
	 * @param name the name of the signal
	 * @param content its value, in the form of the result of a step
	 * @param fingerprint the fingerprint of its value
	 * @return what has become of it
	 * @throws IllegalArgumentException if the name is invalid
	 * @throws IllegalStateException if the transaction cannot be observed any more
	 */
	public SignalResult signal(IdempotencyKey id, String name, byte[] content, Fingerprint fingerprint) {
		SagaExecution.requireName(name);
		Signal signal = new Signal(id, name, this.resources.values().seal(content, id, SagaRun.Values.resultOf(name)),
				fingerprint, this.resources.settings().retention());
		WokenSagas woken = WokenSagas.current("The signal '" + name + "' is sent", this::wake);
		SagaStore store = this.resources.store();
		SignalReceipt receipt = woken.isInTransaction() ? store.signalInTransaction(signal) : store.signal(signal);
		woken.add(receipt.woken(), id);
		return receipt.result();
	}

	/**
	 * Cancels a saga, as part of the current transaction if there is one.
	 * @param id the id of the saga
	 * @param reason why
	 * @return {@link SagaStatus#COMPENSATING} if it will be undone; otherwise the status
	 * in which it remains; empty if there is no such saga
	 * @throws IdempotencyPendingException if a step is in a transaction for too long
	 * @throws IllegalStateException if the transaction cannot be observed any more
	 */
	public Optional<SagaStatus> cancel(IdempotencyKey id, String reason) {
		String stored = CANCELLED + reason;
		WokenSagas woken = WokenSagas.current("A saga is cancelled", this::wake);
		SagaStore store = this.resources.store();
		try {
			Cancellation cancellation = woken.isInTransaction() ? store.cancelInTransaction(id, stored)
					: store.cancel(id, stored);
			woken.add(cancellation.woken(), id);
			return Optional.ofNullable(cancellation.status());
		}
		catch (PessimisticLockingFailureException ex) {
			throw new IdempotencyPendingException(id, this.resources.settings().lease());
		}
	}

	/**
	 * Finds a saga.
	 * @param id the id
	 * @return the saga
	 */
	public Optional<SagaSnapshot> find(IdempotencyKey id) {
		return Optional.ofNullable(this.resources.store().find(id)).map(StoredSaga::toSnapshot);
	}

	/**
	 * Releases the sagas that run in the background at their next step, and stops the
	 * threads.
	 */
	@Override
	public void close() {
		this.stopping = true;
		this.workers.close();
	}

	private NewSaga create(SagaDefinition definition, IdempotencyKey id, Fingerprint fingerprint, byte[] arguments,
			SagaStatus status) {
		SagaSettings settings = this.resources.settings();
		return new NewSaga(SagaOwner.first(id), definition.name(), status, settings.process(), fingerprint,
				this.resources.values().seal(arguments, id, SagaRun.Values.ARGUMENTS), this.traces.current(),
				settings.lease(), definition.timeout());
	}

	private List<StoredSaga> takeOverDue(Set<String> names, int limit) {
		SagaSettings settings = this.resources.settings();
		return this.resources.store().takeOverDue(names, settings.process(), settings.lease(), limit);
	}

	private void takeOver(IdempotencyKey id) {
		SagaSettings settings = this.resources.settings();
		StoredSaga saga = this.resources.store().takeOver(id, settings.process(), settings.lease());
		if (saga != null) {
			resume(saga);
		}
	}

	/**
	 * Runs a saga that was taken over. A saga that hangs in this process in the same
	 * direction is left to another instance: it would hang on another thread, too, until
	 * no worker is left for other sagas.
	 */
	private void resume(StoredSaga saga) {
		SagaDefinition definition = Objects.requireNonNull(this.served.get(saga.name()), "The saga is not served");
		if (isLive(saga)) {
			SagaRun run = new SagaRun(this.resources, definition, saga);
			run.suspectWrite();
			new SagaRunner(run, () -> this.stopping)
				.abandon(new RunAbortedError(Cause.UNKNOWN, HaltReason.CALL_HANGS.text(), null));
			return;
		}
		this.resources.observers().each((observer) -> observer.takenOver(saga.name()));
		this.traces.trace(saga.name(), saga.owner().id(), saga.traceparent(),
				() -> runInBackground(definition, saga).name().toLowerCase(Locale.ROOT));
	}

	private RunEnd.Kind runInBackground(SagaDefinition definition, StoredSaga saga) {
		long start = System.nanoTime();
		RunEnd end = run(new SagaRun(this.resources, definition, saga));
		if (end.kind() == RunEnd.Kind.RELEASED && System.nanoTime() - start > SLOW.toNanos()) {
			SagaWorkers.givingBackSlow().run();
		}
		logger.debug("Saga {} ({}) was run in the background: {}", saga.owner().id(), saga.name(), end.kind());
		return end.kind();
	}

	private boolean isLive(StoredSaga saga) {
		return this.live.keySet()
			.stream()
			.anyMatch((run) -> run.id().equals(saga.owner().id()) && run.status() == saga.status() && !run.isWaiting());
	}

	/**
	 * Renews the leases of the runs in progress. The lease of a run without progress
	 * ends, so that a hanging step does not hold its saga forever.
	 */
	private void renew() {
		long now = System.nanoTime();
		long maxRun = TimeUnit.MILLISECONDS.toNanos(this.resources.settings().maxRun().toMillis());
		List<SagaOwner> owners = this.live.keySet()
			.stream()
			.filter((run) -> run.presence() == SagaRun.Presence.STORED && now - run.progressAt() < maxRun
					&& !run.isAbandoned())
			.map(SagaRun::owner)
			.toList();
		if (!owners.isEmpty()) {
			try {
				this.resources.store().renew(owners, this.resources.settings().lease());
			}
			catch (RuntimeException ex) {
				logger.debug("The leases of {} sagas could not be renewed", owners.size(), ex);
			}
		}
	}

	/**
	 * Abandons the runs whose step has taken longer than its time limit. Their threads
	 * may never return.
	 */
	private void abandonLate() {
		this.live.forEach((run, live) -> {
			RunAbortedError late = run.abandonIfLate();
			if (late != null) {
				try {
					live.runner().abandon(late);
				}
				finally {
					live.giveWorkerBack().run();
				}
			}
		});
	}

	private RunEnd run(SagaRun run) {
		SagaRunner runner = new SagaRunner(run, () -> this.stopping);
		this.live.put(run, new LiveRun(runner, SagaWorkers.givingBackSlow()));
		try {
			return runner.run();
		}
		finally {
			this.live.remove(run);
		}
	}

	/**
	 * What runs a run, and gives its worker back before it has ended.
	 */
	private record LiveRun(SagaRunner runner, Runnable giveWorkerBack) {
	}

}
