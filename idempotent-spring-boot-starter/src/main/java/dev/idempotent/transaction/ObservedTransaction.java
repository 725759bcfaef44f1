package dev.idempotent.transaction;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.util.ClassUtils;

/**
 * A transaction of the calling thread in which this library participates. Knows in which
 * phase it is, runs last statements, and decides how it has ended: the only class that
 * judges what a transaction manager reports.
 * <p>
 * What a manager reports is not enough. A transaction manager that extends
 * {@code AbstractPlatformTransactionManager} behaves as follows:
 * <ul>
 * <li>A {@code TransactionException} that a callback throws before the commit counts as
 * one of the commit itself: {@code beforeCompletion} is not called, nothing is rolled
 * back, the outcome is reported as unknown, and the connection is reset, which commits.
 * <li>The same happens if a {@code TransactionExecutionListener} throws before the
 * rollback.
 * <li>What {@code beforeCompletion} throws is swallowed, and the commit goes on.
 * <li>A callback that is registered in a phase is called in later ones only. One that is
 * registered after the commit is told that the transaction was committed, although its
 * statements were not part of it.
 * <li>A manager of JPA, or one that translates exceptions, reports a rollback if the
 * reply to the commit is lost.
 * <li>A database may have rolled back instead: PostgreSQL if a statement has failed and
 * the exception was caught, others to break a deadlock, after which the transaction goes
 * on.
 * </ul>
 */
public final class ObservedTransaction {

	private static final Logger logger = LoggerFactory.getLogger(ObservedTransaction.class);

	/**
	 * Other transactions, such as transactions of JMS, need no JDBC.
	 */
	private static final boolean JDBC = ClassUtils.isPresent("org.springframework.jdbc.datasource.ConnectionHolder",
			ObservedTransaction.class.getClassLoader());

	/**
	 * Spring's methods that call synchronizations.
	 */
	private static final Map<String, Phase> CALLBACKS = Map.of("triggerBeforeCommit", Phase.COMMITTING,
			"triggerBeforeCompletion", Phase.COMPLETING, "invokeAfterCommit", Phase.COMMITTED, "invokeAfterCompletion",
			Phase.COMMITTED);

	/**
	 * The key under which the transaction is bound to the thread while its
	 * synchronizations are active.
	 */
	private static final Object KEY = new Object();

	/**
	 * The key under which the outer transaction is bound while it is suspended. Its
	 * connections may still be bound if they are connections to another database.
	 */
	private static final Object OUTER = new Object();

	private final List<TransactionParticipant> participants = new ArrayList<>();

	private final Set<DataSource> dataSources = new LinkedHashSet<>();

	/**
	 * The participants that were added behind the commit.
	 */
	private @Nullable List<TransactionParticipant> late;

	/**
	 * The connections that its manager commits; {@code null} if it was not observed from
	 * its begin.
	 */
	private final @Nullable Map<DataSource, ConnectionHolder> connections;

	/**
	 * The execution that its manager reports before the commit, behind all
	 * synchronizations; {@code null} if the manager does not report it.
	 */
	private @Nullable TransactionExecution execution;

	private final @Nullable ObservedTransaction outer;

	/**
	 * The sessions of the database before the commit.
	 */
	private Map<DataSource, String> sessions = Map.of();

	/**
	 * Last statements that were registered behind the callbacks before the commit.
	 */
	private final List<Runnable> lateStatements = new ArrayList<>();

	private @Nullable SavepointLog savepoints;

	private final Callbacks callbacks = new Callbacks();

	private @Nullable PendingChanges changes;

	private Phase phase;

	/**
	 * Whether the callbacks before the commit have begun, or may have.
	 */
	private boolean committing;

	private boolean announced;

	private boolean observedAfterCommit;

	/**
	 * Whether the library has begun the transaction: then only the library ends it.
	 */
	private boolean own;

	/**
	 * How many last statements have not run.
	 */
	private int due;

	/**
	 * How many callbacks before the completion will confirm: the last one does.
	 */
	private int confirmations;

	private boolean confirmed = true;

	private boolean prevented;

	private End end = End.UNKNOWN;

	private ObservedTransaction(Phase phase, @Nullable PendingChanges changes,
			@Nullable Map<DataSource, ConnectionHolder> connections) {
		this.phase = phase;
		this.changes = changes;
		this.connections = connections;
		this.outer = (ObservedTransaction) TransactionSynchronizationManager.getResource(OUTER);
		this.committing = phase != Phase.OPEN;
		this.announced = phase == Phase.COMPLETING;
		this.observedAfterCommit = phase == Phase.COMMITTED;
	}

	/**
	 * Observes a transaction that a watched manager has begun.
	 * @param execution the transaction as its manager tells of it
	 * @param changes what it has not written yet
	 * @param connections those that the manager commits
	 */
	static void watched(TransactionExecution execution, PendingChanges changes,
			Map<DataSource, ConnectionHolder> connections) {
		new ObservedTransaction(Phase.OPEN, changes, connections).register().execution = execution;
	}

	/**
	 * Finds the transaction that a watched manager tells of. It may still appear
	 * suspended if the resumption of another synchronization has failed.
	 */
	static @Nullable ObservedTransaction of(TransactionExecution execution) {
		ObservedTransaction bound = bound();
		ObservedTransaction found = (bound != null) ? bound
				: (ObservedTransaction) TransactionSynchronizationManager.getResource(OUTER);
		while (found != null && found.execution != execution) {
			found = found.outer;
		}
		return found;
	}

	/**
	 * Observes a transaction that the library has begun, unless its manager is watched.
	 * @param changes what it has not written yet
	 * @param outer the connections to which the thread was bound before
	 */
	static ObservedTransaction begun(PendingChanges changes, Map<DataSource, ConnectionHolder> outer) {
		ObservedTransaction known = known();
		if (known == null) {
			Map<DataSource, ConnectionHolder> own = TransactionGuard.boundConnections();
			own.entrySet().removeAll(outer.entrySet());
			known = new ObservedTransaction(Phase.OPEN, changes, own).register();
		}
		known.own = true;
		return known;
	}

	/**
	 * Finds the transaction of the calling thread, but not one that is suspended. One
	 * that is not observed yet is observed from now on.
	 * @return the transaction, or {@code null} if there is none, or it has no
	 * synchronizations or no longer any
	 */
	public static @Nullable ObservedTransaction current() {
		ObservedTransaction known = known();
		if (known != null) {
			return known;
		}
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive()
						? new ObservedTransaction(currentPhase(), null, null).register() : null;
	}

	/**
	 * Returns the transaction of the calling thread if work can be a part of it.
	 * @return {@code null} if there is none, it is read-only, or its end is not reported
	 */
	public static @Nullable ObservedTransaction currentWritable() {
		return TransactionSynchronizationManager.isCurrentTransactionReadOnly() ? null : current();
	}

	/**
	 * Finds the transaction of the calling thread if it is observed.
	 * @return the transaction, or {@code null} if it is not
	 */
	public static @Nullable ObservedTransaction known() {
		ObservedTransaction bound = bound();
		return (bound != null && bound.isRegistered()) ? bound : null;
	}

	/**
	 * Finds the observed transaction to which the calling thread is bound, without
	 * sorting its synchronizations.
	 * @return the transaction, which may be one whose completion was never reported
	 */
	public static @Nullable ObservedTransaction bound() {
		ObservedTransaction bound = (ObservedTransaction) TransactionSynchronizationManager.getResource(KEY);
		ObservedTransaction suspended = (bound == null)
				? (ObservedTransaction) TransactionSynchronizationManager.getResource(OUTER) : null;
		if (suspended != null && suspended.isRegistered()) {
			// The suspension has failed in another synchronization.
			suspended.callbacks.resume();
			return suspended;
		}
		return bound;
	}

	/**
	 * Returns whether the calling thread is in a transaction whose manager has no
	 * synchronizations, so that its end is never reported.
	 * @return {@code true} only if it is one of JDBC or JPA
	 */
	public static boolean isUnobservable() {
		return JDBC && TransactionGuard.hasUnobservable();
	}

	/**
	 * A transaction whose completion was never reported may have left one behind.
	 */
	private boolean isRegistered() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				&& TransactionSynchronizationManager.getSynchronizations().contains(this.callbacks);
	}

	private ObservedTransaction register() {
		bind(KEY, this);
		TransactionSynchronizationManager.registerSynchronization(this.callbacks);
		return this;
	}

	private static void bind(Object key, @Nullable ObservedTransaction transaction) {
		TransactionSynchronizationManager.unbindResourceIfPossible(key);
		if (transaction != null) {
			TransactionSynchronizationManager.bindResource(key, transaction);
		}
	}

	/**
	 * Finds the phase of a transaction that was not observed from its begin: the phase of
	 * the callback in which the calling thread is, unless the thread is in another
	 * transaction that has begun in that callback. Spring does not reveal the phase. The
	 * synchronizations of a transaction that has ended are gone, but it still appears
	 * active.
	 */
	private static Phase currentPhase() {
		return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk((frames) -> {
			Class<?> called = null;
			Phase found = Phase.OPEN;
			for (StackWalker.StackFrame frame : (Iterable<StackWalker.StackFrame>) frames::iterator) {
				Phase phase = (frame.getDeclaringClass() == TransactionSynchronizationUtils.class)
						? CALLBACKS.get(frame.getMethodName()) : null;
				if (phase != null && frame.getMethodName().equals("invokeAfterCompletion")) {
					return phase;
				}
				if (phase != null && found == Phase.OPEN && isRegistered(called)) {
					found = phase;
				}
				called = frame.getDeclaringClass();
			}
			return found;
		});
	}

	private static boolean isRegistered(@Nullable Class<?> callback) {
		return callback != null
				&& TransactionSynchronizationManager.getSynchronizations().stream().anyMatch(callback::isInstance);
	}

	/**
	 * Lets work participate.
	 * @param participant the work
	 * @param dataSource the data source on which it writes, whose connection the
	 * transaction commits; {@code null} if it writes elsewhere
	 */
	public void add(TransactionParticipant participant, @Nullable DataSource dataSource) {
		if (isCommitted()) {
			this.late = (this.late != null) ? this.late : new ArrayList<>();
			this.late.add(participant);
		}
		else if (this.phase == Phase.COMPLETING && this.execution == null) {
			// Nothing looks at the connections any more.
			this.confirmed = false;
		}
		this.participants.add(participant);
		if (dataSource != null) {
			this.dataSources.add(dataSource);
		}
	}

	/**
	 * Finds a participant.
	 * @param <P> the type of the participant
	 * @param type the class of the participant
	 * @return the first one, or {@code null} if there is none
	 */
	public <P extends TransactionParticipant> @Nullable P participant(Class<P> type) {
		for (TransactionParticipant each : this.participants) {
			if (type.isInstance(each)) {
				return type.cast(each);
			}
		}
		return null;
	}

	/**
	 * Runs a statement behind the callbacks before the commit that are registered until
	 * now. If these callbacks have begun, it runs as a callback before the completion. If
	 * it fails, or is not reached, the transaction is not committed.
	 * @param statement what to do
	 * @throws IllegalTransactionStateException if the transaction completes, or has been
	 * committed
	 */
	public void lastStatement(Runnable statement) {
		if (isCompleting()) {
			throw new IllegalTransactionStateException("The transaction is about to end, or has been committed");
		}
		this.due++;
		if (this.phase == Phase.COMMITTING && this.execution != null) {
			this.lateStatements.add(statement);
		}
		else {
			TransactionSynchronizationManager
				.registerSynchronization(new LastStatement(statement, this.phase == Phase.COMMITTING));
		}
	}

	/**
	 * Returns what the transaction has not written yet.
	 * @return its changes, or {@code null} if it was not observed from its begin
	 */
	public @Nullable PendingChanges changes() {
		return this.changes;
	}

	/**
	 * Returns whether the callbacks before the commit have begun.
	 * @return {@code false} before the end of the work
	 */
	public boolean isCommitting() {
		return this.phase.compareTo(Phase.COMMITTING) >= 0;
	}

	/**
	 * Returns whether the transaction is past its last statement: what is written now may
	 * still be committed, unless {@link #isCommitted()}.
	 * @return whether it completes, or has been committed
	 */
	public boolean isCompleting() {
		return this.phase.compareTo(Phase.COMPLETING) >= 0;
	}

	/**
	 * Returns whether the transaction has been committed, although it still appears
	 * active: what is written now is not part of it.
	 * @return whether it is known to have been committed
	 */
	public boolean isCommitted() {
		return this.phase == Phase.COMMITTED;
	}

	/**
	 * Returns how the transaction has ended.
	 * @return {@link End#UNKNOWN} also if it has not, or nothing participates in it
	 */
	public End end() {
		return this.end;
	}

	/**
	 * Returns whether other code is called before the commit, too: behind the last
	 * statements, it may have used the connection, or have ended the transaction.
	 */
	public static boolean hasCallbacksOfOthers() {
		// The classes of this library's callbacks are members of this one.
		return TransactionSynchronizationManager.isSynchronizationActive()
				&& TransactionSynchronizationManager.getSynchronizations()
					.stream()
					.anyMatch((callback) -> callback.getClass().getNestHost() != ObservedTransaction.class);
	}

	/**
	 * Returns whether this transaction commits what is written on a connection.
	 * @param dataSource the data source whose connections transaction managers bind
	 * @return {@code false} also if that is not known
	 */
	public boolean commits(DataSource dataSource) {
		ConnectionHolder own = (this.connections != null) ? this.connections.get(dataSource) : null;
		return own != null && own == TransactionSynchronizationManager.getResource(dataSource);
	}

	/**
	 * Returns whether a connection belongs to another transaction around this one.
	 * @return {@code null} if that is not known
	 */
	@Nullable Boolean isOuter(ConnectionHolder connection) {
		if (this.connections != null) {
			return !this.connections.containsValue(connection);
		}
		for (ObservedTransaction around = this.outer; around != null; around = around.outer) {
			if (around.connections != null && around.connections.containsValue(connection)) {
				return true;
			}
		}
		return null;
	}

	/**
	 * Returns the transactions that may commit what the calling thread writes: this one,
	 * and those around it whose connections the thread still has.
	 * @return the transactions, this one first
	 */
	public List<ObservedTransaction> withThoseAround() {
		List<ObservedTransaction> all = new ArrayList<>(List.of(this));
		for (ObservedTransaction around = this.outer; around != null; around = around.outer) {
			Map<DataSource, ConnectionHolder> theirs = around.connections;
			if (theirs != null && theirs.keySet().stream().anyMatch(around::commits)) {
				all.add(around);
			}
		}
		return all;
	}

	/**
	 * Called last before the commit by a watched manager, which rolls back for what this
	 * throws.
	 */
	void requireWritten() {
		if ((this.participants.isEmpty() && !this.own) || this.prevented) {
			return;
		}
		while (!this.lateStatements.isEmpty()) {
			this.lateStatements.remove(0).run();
			this.due--;
		}
		if (this.due > 0) {
			throw new IllegalStateException("The transaction is rolled back, because a statement of this library that "
					+ "must be the last one was registered behind the callbacks before the commit");
		}
		look();
		if (!this.participants.stream().allMatch(TransactionParticipant::confirm)) {
			throw new IllegalStateException(
					"The transaction is rolled back, because a part of it is no longer in the database");
		}
	}

	/**
	 * Looks which sessions of the database will commit, and whether they can.
	 */
	private void look() {
		this.sessions = JDBC ? TransactionGuard.sessions(targets()) : Map.of();
		this.confirmed &= !JDBC
				|| (TransactionGuard.canCommit(targets()) && TransactionGuard.canCommit(possibleTargets()));
	}

	/**
	 * The data sources on which the transaction has written, as far as it is known that
	 * it commits their connections.
	 */
	private Set<DataSource> targets() {
		Set<DataSource> all = new LinkedHashSet<>(this.dataSources);
		if (this.connections != null) {
			all.addAll(this.connections.keySet());
		}
		return all;
	}

	/**
	 * The data sources whose connections it may commit beside those, if it was not
	 * observed from its begin: some may be of a transaction around it.
	 */
	private Set<DataSource> possibleTargets() {
		if (this.connections != null || !JDBC) {
			return Set.of();
		}
		Set<DataSource> all = new LinkedHashSet<>();
		TransactionGuard.boundConnections().keySet().forEach((dataSource) -> {
			ConnectionHolder managed = TransactionGuard.managed(dataSource);
			if (managed != null && !this.dataSources.contains(dataSource) && !Boolean.TRUE.equals(isOuter(managed))) {
				all.add(dataSource);
			}
		});
		return all;
	}

	/**
	 * Returns whether Spring will call this at the end of the transaction.
	 */
	boolean isCalledAtEnd() {
		return bound() == this && isRegistered();
	}

	/**
	 * Rolls back what the connections have not committed.
	 */
	void rollBackConnections() {
		boolean unused = JDBC && TransactionGuard.rollBackAll(targets(), Map.of());
	}

	/**
	 * Rolls back and closes the connections that the thread is no longer bound to,
	 * although their manager has not released them: other code has ended a transaction
	 * around this one, which has unbound them. The pool would miss them for ever.
	 * @return whether there was one
	 */
	boolean closeLostConnections() {
		boolean closed = JDBC && this.connections != null && TransactionGuard.closeUnbound(this.connections);
		if (closed && this.outer != null && TransactionSynchronizationManager.getResource(OUTER) == this.outer) {
			// Nothing will resume it.
			bind(OUTER, this.outer.outer);
		}
		return closed;
	}

	/**
	 * Returns whether the database may have been asked to commit.
	 */
	boolean mayHaveBegunCommit() {
		return this.announced && this.committing && this.due == 0 && !this.prevented;
	}

	private End endOf(int reported) {
		return endOf(reported, this.announced && !this.observedAfterCommit, this.committing, this.due == 0,
				this.confirmed, this.prevented, this.own || this.execution != null, this::rollBack,
				() -> !JDBC || (possibleTargets().isEmpty() && TransactionGuard.areValid(targets(), this.sessions)));
	}

	/**
	 * Hibernate keeps the connection of a transaction that is still active when its
	 * session is closed.
	 */
	private boolean rollBack() {
		boolean rolledBack = JDBC && TransactionGuard.rollBackAll(targets(), this.sessions);
		if (this.changes != null) {
			this.changes.discard();
		}
		return rolledBack;
	}

	/**
	 * The truth table.
	 * @param reported what {@code afterCompletion} was told
	 * @param announced whether {@code beforeCompletion} was called, which precedes the
	 * commit
	 * @param committing whether {@code beforeCommit} was called, or may have been
	 * @param written whether all last statements have run
	 * @param confirmed whether the database was able to commit after the last callback
	 * @param prevented whether the connection was rolled back and closed before
	 * @param own whether it was observed from its begin; a manager may report that its
	 * part of an existing transaction is of unknown outcome, and that goes on
	 * @param rollBack rolls back what the connections have not committed, and returns
	 * whether that is done
	 * @param valid whether the connections still answer, if they were reset before
	 */
	static End endOf(int reported, boolean announced, boolean committing, boolean written, boolean confirmed,
			boolean prevented, boolean own, BooleanSupplier rollBack, BooleanSupplier valid) {
		if (reported == TransactionSynchronization.STATUS_COMMITTED) {
			return (announced && written && confirmed && !prevented) ? End.COMMITTED : End.UNKNOWN;
		}
		if (prevented) {
			return End.ROLLED_BACK;
		}
		boolean reportedRollback = announced && reported == TransactionSynchronization.STATUS_ROLLED_BACK;
		if (reportedRollback && !committing) {
			return End.ROLLED_BACK;
		}
		boolean commitBegun = announced && committing && written;
		// Work that is not committed yet must not be committed, whatever the rollback
		// proves.
		boolean rolledBack = (own || !commitBegun || reportedRollback) && rollBack.getAsBoolean();
		boolean proved = rolledBack ? !commitBegun || reportedRollback : reportedRollback && valid.getAsBoolean();
		return proved ? End.ROLLED_BACK : End.UNKNOWN;
	}

	/**
	 * Confirms behind the callbacks before the completion that are registered until now.
	 */
	private void confirmBehindCallbacks() {
		if (this.execution != null || (this.participants.isEmpty() && !this.own)) {
			return;
		}
		this.confirmations++;
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCompletion() {
				confirm();
			}

		});
	}

	/**
	 * Looks whether the transaction can be committed with all that was written. An
	 * exception thrown here would be swallowed.
	 */
	private void confirm() {
		this.confirmations--;
		if (this.confirmations > 0 || this.due > 0) {
			return;
		}
		boolean written = false;
		try {
			look();
			written = this.participants.stream().allMatch(TransactionParticipant::confirm);
		}
		finally {
			if (!written) {
				prevent();
			}
		}
	}

	private void prevent() {
		this.confirmed = false;
		this.prevented = JDBC && TransactionGuard.preventCommit(targets());
	}

	/**
	 * The phases, in order.
	 */
	enum Phase {

		OPEN, COMMITTING, COMPLETING, COMMITTED, ENDED

	}

	/**
	 * Runs before other synchronizations, which may call participants.
	 */
	private final class Callbacks implements TransactionSynchronization, PriorityOrdered {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void suspend() {
			TransactionSynchronizationManager.unbindResourceIfPossible(KEY);
			bind(OUTER, ObservedTransaction.this);
		}

		@Override
		public void resume() {
			// An inner transaction may not have reported its end.
			bind(OUTER, ObservedTransaction.this.outer);
			bind(KEY, ObservedTransaction.this);
		}

		@Override
		public void savepoint(Object savepoint) {
			if (!ObservedTransaction.this.participants.isEmpty()) {
				log().add(savepoint, ObservedTransaction.this.participants);
			}
		}

		@Override
		public void savepointRollback(Object savepoint) {
			log().rollBackTo(savepoint, ObservedTransaction.this.participants);
		}

		private SavepointLog log() {
			SavepointLog log = ObservedTransaction.this.savepoints;
			if (log == null) {
				log = new SavepointLog();
				ObservedTransaction.this.savepoints = log;
			}
			return log;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			if (isCommitted()) {
				return;
			}
			ObservedTransaction.this.phase = Phase.COMMITTING;
			ObservedTransaction.this.committing = true;
			confirmBehindCallbacks();
		}

		@Override
		public void beforeCompletion() {
			if (!isCommitted()) {
				ObservedTransaction.this.phase = Phase.COMPLETING;
			}
			ObservedTransaction.this.announced = true;
			ObservedTransaction.this.participants.forEach(TransactionParticipant::completing);
		}

		@Override
		public void afterCommit() {
			ObservedTransaction.this.phase = Phase.COMMITTED;
			List.copyOf(ObservedTransaction.this.participants).forEach(TransactionParticipant::committed);
		}

		@Override
		public void afterCompletion(int status) {
			TransactionSynchronizationManager.unbindResourceIfPossible(KEY);
			if (TransactionSynchronizationManager.getResource(OUTER) == ObservedTransaction.this) {
				bind(OUTER, ObservedTransaction.this.outer);
			}
			ObservedTransaction.this.phase = Phase.ENDED;
			if (ObservedTransaction.this.own || !ObservedTransaction.this.participants.isEmpty()) {
				ObservedTransaction.this.end = endOf(status);
			}
			ObservedTransaction.this.changes = null;
			ObservedTransaction.this.execution = null;
			for (TransactionParticipant each : List.copyOf(ObservedTransaction.this.participants)) {
				try {
					List<TransactionParticipant> late = ObservedTransaction.this.late;
					each.ended((late != null && late.contains(each)) ? End.UNKNOWN : ObservedTransaction.this.end);
				}
				catch (RuntimeException | Error ex) {
					logger.error("A participant of a transaction has failed after its end ({})",
							ObservedTransaction.this.end, ex);
				}
			}
		}

	}

	/**
	 * Runs a statement before the commit, and then, behind all callbacks that are
	 * registered until then, looks whether the transaction can be committed.
	 */
	private final class LastStatement implements TransactionSynchronization {

		private final Runnable statement;

		/**
		 * Whether the callbacks before the commit had begun, so that this is not one.
		 */
		private final boolean late;

		private LastStatement(Runnable statement, boolean late) {
			this.statement = statement;
			this.late = late;
			if (late) {
				ObservedTransaction.this.confirmations++;
			}
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			run();
			confirmBehindCallbacks();
		}

		@Override
		public void beforeCompletion() {
			if (this.late) {
				boolean done = false;
				try {
					run();
					done = true;
				}
				finally {
					if (done) {
						confirm();
					}
					else {
						prevent();
					}
				}
			}
		}

		private void run() {
			this.statement.run();
			ObservedTransaction.this.due--;
		}

	}

	/**
	 * What the participants had at each savepoint.
	 */
	private static final class SavepointLog {

		private final IdentityHashMap<Object, IdentityHashMap<TransactionParticipant, Runnable>> savepoints = new IdentityHashMap<>();

		void add(Object savepoint, List<TransactionParticipant> participants) {
			IdentityHashMap<TransactionParticipant, Runnable> then = new IdentityHashMap<>();
			participants.forEach((participant) -> then.put(participant, participant.savepoint()));
			this.savepoints.put(savepoint, then);
		}

		void rollBackTo(Object savepoint, List<TransactionParticipant> participants) {
			IdentityHashMap<TransactionParticipant, Runnable> then = this.savepoints.get(savepoint);
			for (TransactionParticipant participant : List.copyOf(participants)) {
				Runnable restore = (then != null) ? then.get(participant) : null;
				if (restore != null) {
					restore.run();
				}
				else {
					participant.undone();
				}
			}
		}

	}

}
