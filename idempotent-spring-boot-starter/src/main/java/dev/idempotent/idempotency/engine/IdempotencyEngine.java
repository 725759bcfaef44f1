package dev.idempotent.idempotency.engine;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Decision;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.KeyAdministration.RunningKey;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Creates the claimants of keys on one store. Their leases are renewed and their
 * unfinished settlements retried in the scheduler. Thread-safe.
 */
public final class IdempotencyEngine implements AutoCloseable {

	private final ObserverList observers;

	private final ResponseEnvelope envelope;

	private final CurrentTrace trace;

	/**
	 * The name of this process for operators, as a Java virtual machine names itself.
	 */
	private final String instance = ProcessHandle.current().pid() + "@" + hostName();

	private final ObservedStore store;

	private final OutageLog databaseOutage = OperationTransactions.log();

	private final ClaimScheduler scheduler;

	private final LeasedKey.Leases leases;

	private final RunAnnouncements announcements;

	private final InFlightKeys running;

	private final RunRegistry runs = new RunRegistry();

	/**
	 * A step is a part of its run, which is counted.
	 */
	private final InFlightKeys runningSteps = new InFlightKeys();

	/**
	 * Creates an engine without encryption and observers.
	 * @param store stores the keys
	 * @param onStoreFailure how to handle a claim while the store is unreachable
	 * @param maxRun how long after a claim its lease is renewed, and how long storing a
	 * response is retried
	 */
	public IdempotencyEngine(IdempotencyStore store, OnStoreFailure onStoreFailure, Duration maxRun) {
		this(store, onStoreFailure, maxRun, PayloadEncryption.NONE, List.of(), () -> null);
	}

	/**
	 * Creates an engine with its own threads, which {@link #close()} stops.
	 * @param store stores the keys
	 * @param onStoreFailure how to handle a claim while the store is unreachable
	 * @param maxRun how long after a claim its lease is renewed, and how long storing a
	 * response is retried
	 * @param encryption protects the stored responses
	 * @param observers observe the claims
	 * @param trace the trace context in which a key is claimed
	 */
	public IdempotencyEngine(IdempotencyStore store, OnStoreFailure onStoreFailure, Duration maxRun,
			PayloadEncryption encryption, List<IdempotencyObserver> observers, CurrentTrace trace) {
		this.envelope = new ResponseEnvelope(encryption);
		this.observers = new ObserverList(observers);
		this.trace = trace;
		this.store = new ObservedStore(store, onStoreFailure, this.observers);
		this.scheduler = new ClaimScheduler(maxRun, this.observers);
		this.announcements = new RunAnnouncements(this.store, this.scheduler);
		this.running = this.announcements.running();
		this.leases = new LeasedKey.Leases(this.store, this.scheduler, maxRun);
	}

	/**
	 * Creates a claimant of a key with a new token. The store is not called yet.
	 * @param operation the operation, for observers
	 * @param identity the identity of the run
	 * @param lease how long the claim holds if this process dies
	 * @return the claimant
	 */
	public Claimant claimant(Operation operation, RunIdentity identity, Duration lease) {
		DerivationRoot root = identity.byFingerprint()
				? new DerivationRoot(identity.key(), recordOfRoot(operation, identity, lease), this.store) : null;
		LeasedKey claim = new LeasedKey(request(operation, identity, lease, root), true, this.leases, this.running);
		return new LeaseClaimant(operation, this.observers, this.envelope, claim, this.running, this.runs, root);
	}

	/**
	 * Creates a claimant of a key under {@link Guarantee#TRANSACTION}: the database
	 * decides, and the store in front of it refuses duplicates.
	 * @param operation the operation, for observers
	 * @param identity the identity of the run
	 * @param lease how long the claim holds if this process dies
	 * @param transactions the transactions of the operation
	 * @return the claimant
	 */
	public TransactionalClaimant claimant(Operation operation, RunIdentity identity, Duration lease,
			IdempotencyTransactions transactions) {
		OperationTransactions observed = observed(transactions);
		DerivationRoot root = identity.byFingerprint()
				? new DerivationRoot(identity.key(), recordOfRoot(operation, identity, lease), observed) : null;
		LeasedKey front = new LeasedKey(request(operation, identity, lease, root), false, this.leases, this.running);
		return new TransactionalClaimant(operation, this.observers, this.envelope, front, this.running, observed, root);
	}

	private ClaimRequest recordOfRoot(Operation operation, RunIdentity identity, Duration lease) {
		return request(operation,
				RunIdentity.of(DerivationRoot.recordOf(identity.key()), identity.fingerprint(), identity.retention()),
				lease, null);
	}

	/**
	 * Runs a step of the run that the calling thread is in, unless its result is
	 * recorded.
	 * @param name the name of the step, which the run has not called before
	 * @param work runs the step and writes its result
	 * @return the recorded result
	 * @throws IllegalStateException if the thread is in no run under
	 * {@link Guarantee#LEASE} or already in a step, or if the name is not new
	 */
	public StoredResponse step(String name, Supplier<StoredResponse> work) {
		return step(name).runOrReplay(work);
	}

	StepClaimant step(String name) {
		RunRegistry.Run run = this.runs.of(IdempotencyContext.current());
		LeasedKey claim = new LeasedKey(run.requestOf(name), true, this.leases, this.runningSteps);
		return new StepClaimant(run, claim, this.store, this.envelope);
	}

	/**
	 * Completes another key in the transaction that a claimant has open on the calling
	 * thread, unless that key is claimed or completed. The store in front of the database
	 * is not asked.
	 * @param operation the operation of the key
	 * @param key the key
	 * @param fingerprint the fingerprint to store
	 * @param response the response to store
	 * @param retention how long to keep it
	 * @param transactions the transactions of the operation
	 * @return {@link Claim.Acquired} if it was stored, or the outcome on record;
	 * {@link Claim.Pending} if another transaction held the key for longer than the lock
	 * timeout: the open transaction must then be rolled back
	 */
	public Claim completeIfFree(Operation operation, IdempotencyKey key, Fingerprint fingerprint,
			StoredResponse response, Duration retention, IdempotencyTransactions transactions) {
		ClaimRequest request = request(operation, RunIdentity.of(key, fingerprint, retention), retention, null);
		Claim claim = observed(transactions).completeIfFree(request, this.envelope.encrypt(request, response));
		return (claim instanceof Claim.Completed completed)
				? new Claim.Completed(this.envelope.decrypt(key, completed.response()), completed.remainingRetention())
				: claim;
	}

	/**
	 * Reports a request or call that ended without a claim.
	 * @param operation the operation
	 * @param key its key, or {@code null} if it has none
	 * @param outcome how it ended
	 * @param took how long it took
	 */
	public void decided(Operation operation, @Nullable IdempotencyKey key, Outcome outcome, Duration took) {
		this.observers.decided(new Decision(operation, key, outcome, took, null));
	}

	/**
	 * The oldest runs in progress in this process, in the order of their start. Announces
	 * them to the store first, with the keys for which this process has refused a
	 * request, unless the store is unreachable.
	 * @param atMost how many runs to return at most
	 * @return the keys of the runs
	 */
	public List<RunningKey> announceRuns(int atMost) {
		try {
			this.announcements.announce(Duration.ZERO);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			LoggerFactory.getLogger(IdempotencyEngine.class)
				.debug("The claims of this process could not be announced to the store", ex);
		}
		return this.running.oldest(atMost, Duration.ZERO)
			.stream()
			.map(InFlightKeys.Run::request)
			.map((run) -> new RunningKey(run.key(), RunningKey.Place.INSTANCE, null, run.origin(), run.run()))
			.toList();
	}

	/**
	 * The number of runs in progress in this process.
	 * @return 0 or more
	 */
	public int running() {
		return this.running.count();
	}

	/**
	 * The number of keys whose run has ended and that are still to be settled, because
	 * the store did not answer.
	 * @return 0 or more
	 */
	public int settlementsWaiting() {
		return this.scheduler.waiting();
	}

	/**
	 * The age of the oldest key of this process that is not settled: its run is in
	 * progress or waits for the store.
	 * @return zero if every key is settled
	 */
	public Duration oldestUnsettled() {
		long now = System.nanoTime();
		return Duration.ofNanos(Math.max(this.running.oldest(now), this.scheduler.oldest(now)));
	}

	/**
	 * The age of the oldest run in progress in this process.
	 * @return zero without one
	 */
	public Duration oldestRun() {
		return Duration.ofNanos(this.running.oldest(System.nanoTime()));
	}

	/**
	 * The name of the store in messages.
	 * @return a short name
	 */
	public String storeName() {
		return this.store.describe();
	}

	/**
	 * Returns whether the keys are in the database that also has the records of
	 * {@link Guarantee#TRANSACTION}.
	 * @return {@code false} for a store in front of the database
	 */
	public boolean storesInDatabase() {
		return this.store.isDatabase();
	}

	/**
	 * Tries once more to store the responses that are still waiting for the store, then
	 * stops the background threads. Leases that are still held expire.
	 */
	@Override
	public void close() {
		this.scheduler.close();
	}

	private OperationTransactions observed(IdempotencyTransactions transactions) {
		return new OperationTransactions(transactions, this.databaseOutage, this.observers);
	}

	private static String hostName() {
		return Stream.of("HOSTNAME", "COMPUTERNAME")
			.map(System::getenv)
			.filter((name) -> name != null && !name.isBlank())
			.findFirst()
			.orElseGet(IdempotencyEngine::localHostName);
	}

	private static String localHostName() {
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown";
		}
	}

	private ClaimRequest request(Operation operation, RunIdentity identity, Duration lease,
			@Nullable DerivationRoot root) {
		return ClaimRequest.of(identity.key(), identity.fingerprint(), operation.guarantee(),
				this.trace.traceparentIfAvailable(), lease, identity.retention(),
				new RunDescription(operation.name(), this.instance, false), (root != null) ? root::get : null);
	}

	/**
	 * Provides the trace context in which a key is claimed.
	 */
	@FunctionalInterface
	public interface CurrentTrace {

		/**
		 * The trace context of the calling thread.
		 * @return its text in the format of W3C Trace Context, or {@code null} without
		 * one
		 */
		@Nullable String traceparent();

		/**
		 * The trace context of the calling thread. A tracer that fails does not affect
		 * the work.
		 * @return its text, or {@code null}
		 */
		default @Nullable String traceparentIfAvailable() {
			try {
				return traceparent();
			}
			catch (RuntimeException | Error ex) {
				LoggerFactory.getLogger(CurrentTrace.class).debug("The trace context of a claim could not be read", ex);
				return null;
			}
		}

	}

}
