package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.relay.BatchSettlement.Rules;
import dev.idempotent.outbox.relay.EventHandler.Attempt;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of a handler. One of them prepares an attempt for each worker that is free,
 * and each begins one: of one event, or of as many as the handler handles together.
 */
final class HandlerWorkers extends LaneWorkers {

	private static final Logger logger = LoggerFactory.getLogger(HandlerWorkers.class);

	private final EventHandler handler;

	private final Consumer<Throwable> failures;

	private final HandlerBatches batches;

	/**
	 * Whether the handler handles the events of a claim together.
	 */
	private final boolean together;

	/**
	 * What free workers begin next. Filled by one of them at a time, while the others
	 * wait for its lock: so what becomes free while a claim is on its way shares the next
	 * one.
	 */
	private final Queue<Runnable> ready = new ConcurrentLinkedQueue<>();

	private final AtomicReference<ReentrantLock> preparing = new AtomicReference<>(new ReentrantLock());

	private final ReentrantLock probing = new ReentrantLock();

	private final LeftEvents left = new LeftEvents();

	/**
	 * The rows whose handler is being called. Others can take them when their leases have
	 * ended, this process only when the calls have.
	 */
	private final Set<List<Long>> handling = ConcurrentHashMap.newKeySet();

	private final FailureStreak streak = new FailureStreak();

	private final RecoveryTurn recoveryTurn;

	/**
	 * Creates workers without threads.
	 * @param recoveryTurn shared by the handlers of this process
	 * @param failures told of what the handler throws
	 * @param onRecovery called when events that were not kept in memory can be handled
	 * again
	 */
	HandlerWorkers(EventHandler handler, Rules rules, PausedTopics paused, RecoveryTurn recoveryTurn,
			OutboxObserver observer, Consumer<Throwable> failures, Runnable onRecovery) {
		super(handler.topic(), rules.of(handler), paused, observer, handler.lease(),
				(handler.batch() > 1) ? handler.batch() : handler.concurrency(), onRecovery);
		this.handler = handler;
		this.failures = failures;
		this.batches = new HandlerBatches(handler, failures);
		this.together = handler.batch() > 1;
		this.recoveryTurn = recoveryTurn;
	}

	@Override
	int threads() {
		return this.handler.concurrency();
	}

	@Override
	Thread newThread(Runnable work) {
		return this.handler.newThread(work);
	}

	/**
	 * One event may take minutes; meanwhile, a scan finds the events of other handlers.
	 */
	@Override
	Duration waitForRoom() {
		return Duration.ZERO;
	}

	@Override
	boolean serves(String topic) {
		return topic.equals(name());
	}

	@Override
	boolean wake(LaneSignal signal) {
		return this.left.contains(signal.lane(), signal.row()) || super.wake(signal);
	}

	@Override
	List<QueuedEvent> sendable(List<QueuedEvent> rows, boolean probe) {
		return super.sendable(rows.stream().filter((row) -> !this.left.contains(row.lane(), row.id())).toList(), probe);
	}

	@Override
	boolean isUnfinished() {
		return super.isUnfinished() || !this.ready.isEmpty();
	}

	/**
	 * Lets the handler handle the events of one attempt. While the handler is
	 * unavailable, one of its workers probes it.
	 */
	@Override
	boolean deliverWoken() throws InterruptedException {
		if (!circuits().isClosed(name()) && this.ready.isEmpty() && this.probing.tryLock()) {
			try {
				return probe();
			}
			finally {
				this.probing.unlock();
			}
		}
		queue().await(MAX_WAIT);
		return begin(nextAttempt());
	}

	@Override
	void probe(LaneSignal signal) {
		super.probe(signal);
		boolean unused = begin(this.ready.poll());
	}

	private static boolean begin(@Nullable Runnable attempt) {
		if (attempt != null) {
			attempt.run();
		}
		return attempt != null;
	}

	/**
	 * No more rows are claimed than workers wait here, so that none waits behind another
	 * one while its lease passes, and a process that dies has counted few attempts that
	 * had not begun. The others wait at most a second for a claim, whose reply may be
	 * lost. Claims may run beside each other.
	 */
	private @Nullable Runnable nextAttempt() throws InterruptedException {
		ReentrantLock lock = this.preparing.get();
		if (!lock.tryLock(MAX_WAIT.toNanos(), TimeUnit.NANOSECONDS)) {
			this.preparing.compareAndSet(lock, new ReentrantLock());
			return null;
		}
		try {
			if (this.ready.isEmpty()) {
				boolean unused = deliverWoken(this.together ? batchSize() : 1 + lock.getQueueLength());
			}
			return this.ready.poll();
		}
		finally {
			lock.unlock();
		}
	}

	/**
	 * Handles the first event of a lane on the calling thread.
	 */
	void handle(Row row) {
		process(Map.of(row.lane(), LaneSignal.of(row, 0).fromStart()), false);
		boolean unused = begin(this.ready.poll());
	}

	/**
	 * Prepares the attempts of the first events of lanes.
	 */
	@Override
	void process(Map<Long, LaneSignal> lanes, boolean probe) {
		List<List<QueuedEvent>> claimed = new ArrayList<>();
		List<QueuedEvent> alone = new ArrayList<>();
		// Asked first, because what is read then shows which rows need a claim.
		boolean unclaimed = this.handler.handlesUnclaimed();
		for (List<QueuedEvent> rows : firstOf(lanes, 1)) {
			QueuedEvent row = rows.get(0);
			if (this.handling.contains(row.place())) {
				continue;
			}
			if (unclaimed && canDoWithoutClaim(row)) {
				sendable(rows, probe).forEach((each) -> prepare(rows, lanes, () -> handleUnclaimed(each, lanes)));
			}
			else if (isToBeAlone(row) || (unclaimed && row.traced())) {
				alone.add(row);
			}
			else {
				claimed.add(rows);
			}
		}
		batches(claimed).forEach((batch) -> prepareClaimed(batch, lanes, probe));
		alone.forEach((row) -> prepare(List.of(row), lanes, () -> attemptAlone(row, lanes, probe)));
	}

	private void prepareClaimed(List<QueuedEvent> batch, Map<Long, LaneSignal> lanes, boolean probe) {
		Claimed claimed = claim(batch, probe);
		if (!claimed.claims().isEmpty()) {
			(this.together ? List.of(claimed) : claimed.each())
				.forEach((each) -> prepare(each.rows(), lanes, () -> attempt(each, lanes)));
		}
	}

	private void prepare(List<QueuedEvent> rows, Map<Long, LaneSignal> lanes, Runnable attempt) {
		List<LaneSignal> own = rows.stream().map((row) -> Objects.requireNonNull(lanes.get(row.lane()))).toList();
		this.ready.add(() -> wakeAgainIfItFails(own, attempt));
	}

	/**
	 * The last attempt of the event may have ended its process, or it was one of several
	 * that have failed together.
	 */
	@Override
	boolean isToBeAlone(QueuedEvent row) {
		return row.interrupted() || this.batches.isUnresolved(row.place());
	}

	private void attemptAlone(QueuedEvent row, Map<Long, LaneSignal> lanes, boolean probe) {
		Runnable attempt = () -> attempt(claim(List.of(row), probe), lanes);
		if (!row.interrupted() && this.batches.isUnresolved(row.place())) {
			attempt.run();
		}
		else {
			this.recoveryTurn.run(row.lane(), lease(), attempt, () -> lookAt(row.lane(), row.id(), row.topic()));
		}
	}

	/**
	 * Lets the handler handle claimed rows, without those that another thread of this
	 * process still handles.
	 */
	@Override
	void send(List<ClaimedEvent> claims, BooleanSupplier sending, BatchSettlement settlement) {
		List<ClaimedEvent> begun = new ArrayList<>();
		List<Outcome> outcomes;
		try {
			for (ClaimedEvent claim : claims) {
				if (this.handling.add(claim.place())) {
					begun.add(claim);
				}
				else {
					settlement.release(claim);
				}
			}
			outcomes = this.batches.handle(begun, sending);
		}
		finally {
			begun.forEach((claim) -> this.handling.remove(claim.place()));
		}
		for (int i = 0; i < begun.size(); i++) {
			settle(begun.get(i), outcomes.get(i), settlement);
		}
	}

	/**
	 * Whether a row needs no claim, because it has had no attempt. For a large event, an
	 * attempt is counted before the payload is read.
	 */
	private static boolean canDoWithoutClaim(QueuedEvent row) {
		return row.isNew() && row.bytes() <= EventTable.READ_WITH_CLAIM;
	}

	/**
	 * Handles a row that only the transaction of the handler has locked. If that has not
	 * committed, the row is claimed now, which counts the attempt, and settled like any
	 * other. If the process dies before, or another instance is faster, the trace of the
	 * lock lets the next attempt be claimed.
	 */
	private void handleUnclaimed(QueuedEvent row, Map<Long, LaneSignal> lanes) {
		if (isAbandoned() || !this.handling.add(row.place())) {
			return;
		}
		BatchSettlement settlement = new BatchSettlement(rules());
		try {
			handleUnclaimed(row, lanes, settlement);
		}
		finally {
			this.handling.remove(row.place());
		}
		lookAgain(settlement, List.of(row));
	}

	private void handleUnclaimed(QueuedEvent row, Map<Long, LaneSignal> lanes, BatchSettlement settlement) {
		long start = System.nanoTime();
		Attempt attempt = this.handler.handleUnclaimed(row, this.failures);
		if (attempt == null) {
			return;
		}
		long end = System.nanoTime();
		boolean counted = true;
		if (attempt.outcome() instanceof Outcome.Delivered) {
			settle(attempt.claim(), attempt.outcome(), settlement);
		}
		else {
			counted = count(row, attempt.outcome(), settlement);
		}
		BatchResult result = counted ? store(settlement, end + lease().toNanos()) : new BatchResult(0, 1, 0, 0, 1);
		report(settlement, result, Duration.ofNanos(end - start), end, lanes);
	}

	/**
	 * Claims a row whose attempt has ended.
	 * @return {@code false} if another instance has taken it since
	 */
	private boolean count(QueuedEvent row, Outcome outcome, BatchSettlement settlement) {
		List<ClaimedEvent> claims = repeat(System.nanoTime() + lease().toNanos(),
				() -> rules().table().claim(List.of(row), lease(), rules().attempts()));
		for (ClaimedEvent claim : claims) {
			if (claim.undeliverable() != null) {
				settlement.add(claim, claim.undeliverable());
			}
			else {
				settle(claim, outcome, settlement);
			}
		}
		logUndeliverable(claims);
		return !claims.isEmpty();
	}

	private void settle(ClaimedEvent claim, Outcome outcome, BatchSettlement settlement) {
		if (outcome instanceof Outcome.Delivered && this.handler.removesEvents()) {
			succeeded(claim);
			settlement.addRemoved(claim);
		}
		else if (outcome instanceof Outcome.Delivered) {
			succeeded(claim);
			settlement.add(claim, outcome);
		}
		else if (EventHandler.isLeftToOthers(outcome)) {
			leave(claim, ((Outcome.Unavailable) outcome).reason(), settlement);
		}
		else if (outcome instanceof Outcome.Retry retry && isOutage(claim, retry.reason())) {
			settlement.release(claim);
		}
		else if (outcome instanceof Outcome.Unavailable unavailable && outcome != BatchSettlement.NOT_SENT) {
			settlement.addNotCalled(claim, unavailable.reason());
		}
		else {
			settlement.add(claim, outcome);
		}
	}

	private void succeeded(ClaimedEvent claim) {
		this.streak.end();
		if (!circuits().isClosed(name())) {
			circuits().record(List.of(claim.event()), List.of(new Outcome.Delivered()));
		}
	}

	/**
	 * Whether a failure is one of many in a row, so that it does not count, and the
	 * handler is only probed until an event succeeds.
	 */
	private boolean isOutage(ClaimedEvent claim, String reason) {
		boolean outage = this.streak.add(claim.lane());
		if (outage) {
			circuits().record(List.of(claim.event()), List.of(new Outcome.Unavailable(reason)));
		}
		return outage;
	}

	private void leave(ClaimedEvent claim, String reason, BatchSettlement settlement) {
		if (this.left.add(claim.lane(), claim.event().sequence())) {
			logger.warn("An event for {} is left to other versions for a day, and not counted: {}", name(), reason);
		}
		settlement.addLeftToOthers(claim, reason);
	}

}
