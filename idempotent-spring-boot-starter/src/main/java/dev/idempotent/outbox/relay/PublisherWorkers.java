package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.EventTable.ClaimedEvent;
import dev.idempotent.outbox.jdbc.EventTable.QueuedEvent;
import dev.idempotent.outbox.jdbc.EventTable.LaneQuery;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.relay.EventHandler.Attempt;
import dev.idempotent.outbox.relay.BatchSettlement.Rules;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the events of one publisher or handler on threads of its own, so that a slow
 * one does not delay the others. A worker reads the first rows of the woken lanes in one
 * snapshot, claims them, publishes them outside of a transaction, settles them, and looks
 * at the same lanes again. A worker of a handler claims one row for each worker that is
 * free, and each of them handles one.
 * <p>
 * The order of a lane needs neither lock nor lease: its first row stays the first until
 * its deletion commits, and it is deleted only after its publication was confirmed.
 */
final class PublisherWorkers {

	private static final int REMEMBERED_LANES = 10_000;

	private static final int RUN = 100;

	private static final Duration MAX_WAIT = Duration.ofSeconds(1);

	private static final long PAUSE_MILLIS = 100;

	private static final long TURN_MILLIS = 1;

	private static final Logger logger = LoggerFactory.getLogger(PublisherWorkers.class);

	private final String publisher;

	private final boolean runs;

	private final @Nullable EventHandler handler;

	/**
	 * Whether the handler handles the events of a claim together.
	 */
	private final boolean together;

	private final Consumer<Throwable> failures;

	private final EventTable table;

	private final Rules rules;

	private final RelaySettings settings;

	private final OutboxObserver observer;

	private final PausedTopics paused;

	private final LaneQueue wakes = new LaneQueue(REMEMBERED_LANES);

	private final CircuitBreakers circuits;

	private final Sender sender;

	private final int batchSize;

	private final Duration lease;

	private final int threads;

	/**
	 * How long a scan waits for room.
	 */
	private final Duration waitForRoom;

	private final Map<Long, LastDelivered> lastDelivered = new LinkedHashMap<>(16, 0.75F, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<Long, LastDelivered> eldest) {
			return size() > REMEMBERED_LANES;
		}

	};

	/**
	 * What the free workers of a handler begin next. Filled by one of them at a time,
	 * while the others wait for its lock: so what becomes free while a claim is on its
	 * way shares the next one.
	 */
	private final Queue<Runnable> ready = new ConcurrentLinkedQueue<>();

	private final AtomicReference<ReentrantLock> claiming = new AtomicReference<>(new ReentrantLock());

	/**
	 * Held by the worker of a publisher whose turn it is, until it has published a batch.
	 */
	private final ReentrantLock turn = new ReentrantLock();

	private final LeftEvents left = new LeftEvents();

	/**
	 * The rows whose handler is being called. Others can take them when their leases have
	 * ended, this process only when the calls have.
	 */
	private final Set<List<Long>> handling = ConcurrentHashMap.newKeySet();

	private final FailureStreak streak = new FailureStreak();

	/**
	 * Of all handlers of this process.
	 */
	private final @Nullable SuspectTurn suspectTurn;

	private volatile boolean draining;

	private volatile boolean abandoned;

	/**
	 * Creates workers without threads.
	 * @param onRecovery called when events that were not kept in memory can be sent again
	 */
	PublisherWorkers(OutboxPublisher publisher, Rules rules, PausedTopics paused, OutboxObserver observer,
			Runnable onRecovery) {
		this.publisher = publisher.prefix();
		this.suspectTurn = null;
		this.runs = publisher.keepsOrder();
		this.handler = null;
		this.together = false;
		this.failures = (failure) -> {
		};
		this.rules = rules;
		this.table = rules.table();
		this.settings = rules.settings();
		this.paused = paused;
		this.observer = observer;
		this.circuits = new CircuitBreakers(this.publisher, paused, this.wakes, onRecovery);
		this.sender = new BatchPublisher(publisher, this.circuits);
		this.batchSize = this.settings.batchSize();
		this.lease = this.settings.lease();
		this.threads = this.settings.workers();
		this.waitForRoom = MAX_WAIT;
	}

	/**
	 * Creates workers of a handler, without threads.
	 * @param suspectTurn shared by the handlers of this process
	 * @param failures told of what the handler throws
	 * @param onRecovery called when events that were not kept in memory can be handled
	 * again
	 */
	PublisherWorkers(EventHandler handler, Rules rules, PausedTopics paused, SuspectTurn suspectTurn,
			OutboxObserver observer, Consumer<Throwable> failures, Runnable onRecovery) {
		this.publisher = handler.topic();
		this.suspectTurn = suspectTurn;
		this.runs = false;
		this.handler = handler;
		this.failures = failures;
		this.rules = rules.of(handler);
		this.table = rules.table();
		this.settings = rules.settings();
		this.paused = paused;
		this.observer = observer;
		this.circuits = new CircuitBreakers(this.publisher, paused, this.wakes, onRecovery);
		this.together = handler.batch() > 1;
		HandlerBatches batches = new HandlerBatches(handler, failures);
		this.sender = new Sender() {

			@Override
			public void send(List<ClaimedEvent> claims, BooleanSupplier sending, BatchSettlement settlement) {
				handle(handler, batches, claims, sending, settlement);
			}

			@Override
			public boolean isSuspect(List<Long> row) {
				return batches.isSuspect(row);
			}

		};
		this.lease = handler.lease();
		this.threads = handler.concurrency();
		this.batchSize = this.together ? handler.batch() : this.threads;
		// One event may take minutes; meanwhile, a scan finds the events of other
		// handlers.
		this.waitForRoom = Duration.ZERO;
	}

	/**
	 * Returns the workers that deliver to a topic: the workers of its handler, or of its
	 * publisher.
	 * @return {@code null} if there are none
	 */
	static @Nullable PublisherWorkers of(String topic, Map<String, PublisherWorkers> all) {
		PublisherWorkers own = all.get(topic);
		return (own != null) ? own : all.get(OutboxTopics.publisher(topic));
	}

	int threads() {
		return this.threads;
	}

	CircuitBreakers circuits() {
		return this.circuits;
	}

	/**
	 * Looks at a lane, unless its topic is paused or unavailable, or there are too many
	 * lanes to look at.
	 * @return {@code false} if there are too many
	 */
	boolean wake(LaneSignal wake) {
		return this.draining || this.left.contains(wake.lane(), wake.row()) || keepsBack(wake) || this.wakes.add(wake);
	}

	/**
	 * Whether the topic is paused or unavailable. If it is unavailable, the lane is kept
	 * for a probe.
	 */
	boolean keepsBack(LaneSignal wake) {
		return this.paused.contains(wake.topic())
				|| (!this.circuits.isClosed(wake.topic()) && this.circuits.keep(wake));
	}

	/**
	 * Waits until there is room for lanes, while lanes are being taken.
	 * @return whether there is
	 */
	boolean awaitRoom() throws InterruptedException {
		return this.wakes.awaitRoom(this.waitForRoom);
	}

	/**
	 * Accepts no more lanes. The workers end when those that are woken are delivered.
	 */
	void drain() {
		this.draining = true;
		this.wakes.stop();
		this.circuits.stop();
	}

	/**
	 * Sends nothing more.
	 */
	void abandon() {
		this.abandoned = true;
		drain();
	}

	/**
	 * Whether there may be something to deliver.
	 */
	boolean isUnfinished() {
		return !this.draining || (!this.abandoned && !this.wakes.isEmpty()) || !this.ready.isEmpty();
	}

	/**
	 * Delivers the first events of some woken lanes, or lets a handler handle one.
	 * @return whether there were any
	 */
	boolean deliverWoken() throws InterruptedException {
		if (this.handler != null) {
			return handleNext();
		}
		this.wakes.await(MAX_WAIT);
		// Where processors are busy, two workers slow each other down: what one would
		// deliver alone within a millisecond, and in larger batches, takes both longer.
		// After a millisecond, a slow publication is not waited for.
		boolean unused = this.turn.tryLock(TURN_MILLIS, TimeUnit.MILLISECONDS);
		try {
			return deliverWoken(this.batchSize);
		}
		finally {
			endTurn();
		}
	}

	/**
	 * While the handler is unavailable, one of its workers probes it.
	 */
	private boolean handleNext() throws InterruptedException {
		if (!this.circuits.isClosed(this.publisher) && this.ready.isEmpty() && this.turn.tryLock()) {
			try {
				return probe();
			}
			finally {
				endTurn();
			}
		}
		this.wakes.await(MAX_WAIT);
		return runNext(nextAttempt());
	}

	private void endTurn() {
		if (this.turn.isHeldByCurrentThread()) {
			this.turn.unlock();
		}
	}

	private static boolean runNext(@Nullable Runnable attempt) {
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
		ReentrantLock lock = this.claiming.get();
		if (!lock.tryLock(MAX_WAIT.toNanos(), TimeUnit.NANOSECONDS)) {
			this.claiming.compareAndSet(lock, new ReentrantLock());
			return null;
		}
		try {
			if (this.ready.isEmpty()) {
				boolean unused = deliverWoken(this.together ? this.batchSize : 1 + lock.getQueueLength());
			}
			return this.ready.poll();
		}
		finally {
			lock.unlock();
		}
	}

	private boolean deliverWoken(int most) {
		List<LaneSignal> woken = this.wakes.take(most);
		Map<Long, LaneSignal> lanes = new TreeMap<>();
		woken.stream().filter((wake) -> !keepsBack(wake)).forEach((wake) -> lanes.put(wake.lane(), wake));
		if (lanes.isEmpty() || this.abandoned) {
			return false;
		}
		int limit = this.runs ? Math.max(1, Math.min(RUN, this.batchSize / lanes.size())) : 1;
		wakeAgainIfItFails(lanes.values(), () -> deliver(lanes, limit, false));
		return true;
	}

	private void wakeAgainIfItFails(Collection<LaneSignal> lanes, Runnable delivery) {
		try {
			delivery.run();
		}
		catch (RuntimeException | Error ex) {
			lanes.forEach((wake) -> this.wakes.add(wake.fromStart()));
			if (this.draining) {
				this.abandoned = true;
			}
			throw ex;
		}
	}

	/**
	 * Sends one event to find out whether its destination is available.
	 * @return whether there was one
	 */
	boolean probe() throws InterruptedException {
		LaneSignal wake = this.circuits.awaitProbe(MAX_WAIT);
		if (wake == null || this.draining) {
			return false;
		}
		try {
			deliver(Map.of(wake.lane(), wake.fromStart()), 1, true);
			boolean unused = runNext(this.ready.poll());
			return true;
		}
		catch (RuntimeException | Error ex) {
			this.circuits.keep(wake);
			throw ex;
		}
	}

	/**
	 * Lets a handler handle the first event of a lane on the calling thread.
	 */
	void handle(Row row) {
		deliver(Map.of(row.lane(), LaneSignal.of(row, 0).fromStart()), 1, false);
		boolean unused = runNext(this.ready.poll());
	}

	private void deliver(Map<Long, LaneSignal> lanes, int limit, boolean probe) {
		List<QueuedEvent> batch = new ArrayList<>();
		List<QueuedEvent> suspects = new ArrayList<>();
		long bytes = 0;
		// Asked first, because what is read then shows which rows need a claim.
		boolean unclaimed = this.handler != null && this.handler.handlesUnclaimed();
		for (List<QueuedEvent> rows : first(lanes, limit)) {
			QueuedEvent head = rows.get(0);
			if (this.handling.contains(head.place())) {
				continue;
			}
			if (unclaimed && canDoWithoutClaim(head)) {
				sendable(List.of(head), probe)
					.forEach((each) -> begin(List.of(each), lanes, () -> handleUnclaimed(each, lanes)));
				continue;
			}
			if (isSuspect(head) || (unclaimed && head.traced())) {
				suspects.add(head);
				continue;
			}
			if (!fits(head, batch, bytes)) {
				attempt(batch, lanes, probe);
				batch = new ArrayList<>();
				bytes = 0;
			}
			for (QueuedEvent row : rows) {
				if (!row.due() || isSuspect(row) || !fits(row, batch, bytes)) {
					break;
				}
				batch.add(row);
				bytes += row.bytes();
			}
		}
		attempt(batch, lanes, probe);
		suspects.forEach((suspect) -> begin(List.of(suspect), lanes, () -> attemptAlone(suspect, lanes, probe)));
	}

	/**
	 * Claims a row alone, because its last attempt may have ended its process, or kept
	 * others from getting a response.
	 */
	private void attemptAlone(QueuedEvent head, Map<Long, LaneSignal> lanes, boolean probe) {
		Runnable attempt = () -> settle(claim(List.of(head), probe), lanes);
		SuspectTurn turn = this.suspectTurn;
		if (turn == null || (head.settled() && this.sender.isSuspect(head.place()))) {
			attempt.run();
		}
		else {
			turn.run(head.lane(), this.lease, attempt, () -> lookAt(head.lane(), head.id(), head.topic()));
		}
	}

	private boolean isSuspect(QueuedEvent row) {
		return !row.settled() || this.sender.isSuspect(row.place());
	}

	private boolean fits(QueuedEvent row, List<QueuedEvent> batch, long bytes) {
		return batch.isEmpty()
				|| (batch.size() < this.batchSize && bytes + row.bytes() <= this.settings.batchMemory().toBytes());
	}

	/**
	 * The first rows of the lanes whose first row is due. An event without a key, alone
	 * in its lane, is not read before it is claimed.
	 */
	private Collection<List<QueuedEvent>> first(Map<Long, LaneSignal> lanes, int limit) {
		Map<Long, LastDelivered> behind = behind(lanes);
		Map<Long, List<QueuedEvent>> first = new TreeMap<>();
		List<LaneQuery> looks = new ArrayList<>();
		lanes.forEach((lane, wake) -> {
			if (wake.alone() != null) {
				first.put(lane, List.of(wake.alone()));
				return;
			}
			LastDelivered delivered = behind.get(lane);
			looks.add(new LaneQuery(lane, (delivered != null) ? Math.min(wake.row() - 1, delivered.row().id()) : 0));
		});
		if (!looks.isEmpty()) {
			first.putAll(byLane(this.table.heads(looks, limit)));
		}
		List<LaneQuery> again = new ArrayList<>();
		behind.forEach((lane, delivered) -> {
			List<QueuedEvent> rows = first.get(lane);
			if (rows != null && !delivered.isFollowedBy(rows.get(0))) {
				again.add(new LaneQuery(lane, 0));
			}
			else if (rows != null) {
				rows.removeIf((row) -> !delivered.isFollowedBy(row));
			}
		});
		if (!again.isEmpty()) {
			again.forEach((look) -> first.remove(look.lane()));
			first.putAll(byLane(this.table.heads(again, limit)));
		}
		first.values().removeIf((rows) -> !rows.get(0).due());
		return first.values();
	}

	/**
	 * The delivered events behind which to look, because a search from the first row
	 * would read deleted rows that an old snapshot keeps.
	 */
	private Map<Long, LastDelivered> behind(Map<Long, LaneSignal> lanes) {
		Map<Long, LastDelivered> behind = new HashMap<>();
		synchronized (this.lastDelivered) {
			lanes.forEach((lane, wake) -> {
				LastDelivered delivered = this.lastDelivered.get(lane);
				if (delivered != null && wake.row() > 0) {
					behind.put(lane, delivered);
				}
			});
		}
		return behind;
	}

	private static Map<Long, List<QueuedEvent>> byLane(List<QueuedEvent> heads) {
		Map<Long, List<QueuedEvent>> lanes = new TreeMap<>();
		heads.forEach((head) -> lanes.computeIfAbsent(head.lane(), (lane) -> new ArrayList<>()).add(head));
		return lanes;
	}

	/**
	 * Claims rows by one statement. The rows of a publisher are one attempt.
	 * @param probe whether to send to unavailable destinations, too
	 */
	private void attempt(List<QueuedEvent> heads, Map<Long, LaneSignal> lanes, boolean probe) {
		Claimed claimed = claim(heads, probe);
		if (this.together && claimed.claims().isEmpty()) {
			return;
		}
		List<Claimed> attempts = (this.handler != null && !this.together) ? claimed.each() : List.of(claimed);
		attempts.forEach((attempt) -> begin(attempt.heads(), lanes, () -> settle(attempt, lanes)));
	}

	private void begin(List<QueuedEvent> heads, Map<Long, LaneSignal> lanes, Runnable attempt) {
		if (this.handler != null) {
			List<LaneSignal> own = heads.stream()
				.map((head) -> Objects.requireNonNull(lanes.get(head.lane())))
				.toList();
			this.ready.add(() -> wakeAgainIfItFails(own, attempt));
		}
		else {
			attempt.run();
		}
	}

	private List<QueuedEvent> sendable(List<QueuedEvent> heads, boolean probe) {
		return heads.stream()
			.filter((head) -> !this.abandoned && serves(head.topic()) && !this.left.contains(head.lane(), head.id()))
			.filter((head) -> probe ? !this.paused.contains(head.topic())
					: !keepsBack(new LaneSignal(head.lane(), head.id(), head.topic(), 0)))
			.toList();
	}

	private Claimed claim(List<QueuedEvent> heads, boolean probe) {
		List<QueuedEvent> sendable = sendable(heads, probe);
		long begin = System.nanoTime();
		return new Claimed(sendable, this.table.claim(sendable, this.lease, this.rules.attempts()), begin);
	}

	/**
	 * Topics can share a lane.
	 */
	private boolean serves(String topic) {
		return ((this.handler != null) ? topic : OutboxTopics.publisher(topic)).equals(this.publisher);
	}

	/**
	 * Publishes claimed rows and settles them.
	 */
	private void settle(Claimed claimed, Map<Long, LaneSignal> lanes) {
		long nanos = this.lease.toNanos();
		BatchSettlement settlement = new BatchSettlement(this.rules);
		List<ClaimedEvent> claims = unbroken(claimed.heads(), claimed.claims(), settlement);
		BooleanSupplier sending = () -> !this.abandoned && System.nanoTime() - claimed.begin() < nanos / 2;
		long start = System.nanoTime();
		if (!claims.isEmpty()) {
			this.sender.send(claims, sending, settlement);
		}
		long end = System.nanoTime();
		endTurn();
		BatchResult result = store(settlement, claimed.begin() + nanos);
		report(settlement, result, Duration.ofNanos(end - start), end, lanes);
		lookAgain(settlement, claimed.heads());
	}

	/**
	 * Lets the handler handle claimed rows, without those that another thread of this
	 * process still handles.
	 */
	private void handle(EventHandler own, HandlerBatches batches, List<ClaimedEvent> claims, BooleanSupplier sending,
			BatchSettlement settlement) {
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
			outcomes = batches.handle(begun, sending);
		}
		finally {
			begun.forEach((claim) -> this.handling.remove(claim.place()));
		}
		for (int i = 0; i < begun.size(); i++) {
			settle(own, begun.get(i), outcomes.get(i), settlement);
		}
	}

	/**
	 * Whether a row needs no claim, because it has had no attempt. For a large event, an
	 * attempt is counted before the payload is read.
	 */
	private static boolean canDoWithoutClaim(QueuedEvent head) {
		return head.isNew() && head.bytes() <= EventTable.READ_WITH_CLAIM;
	}

	/**
	 * Handles a row that only the transaction of the handler has locked. If that has not
	 * committed, the row is claimed now, which counts the attempt, and settled like any
	 * other. If the process dies before, or another instance is faster, the trace of the
	 * lock lets the next attempt be claimed.
	 */
	private void handleUnclaimed(QueuedEvent head, Map<Long, LaneSignal> lanes) {
		if (this.abandoned || !this.handling.add(head.place())) {
			return;
		}
		BatchSettlement settlement = new BatchSettlement(this.rules);
		try {
			handleUnclaimed(Objects.requireNonNull(this.handler), head, lanes, settlement);
		}
		finally {
			this.handling.remove(head.place());
		}
		lookAgain(settlement, List.of(head));
	}

	private void handleUnclaimed(EventHandler own, QueuedEvent head, Map<Long, LaneSignal> lanes,
			BatchSettlement settlement) {
		long start = System.nanoTime();
		Attempt attempt = own.handleUnclaimed(head, this.failures);
		if (attempt == null) {
			return;
		}
		long end = System.nanoTime();
		boolean counted = true;
		if (attempt.outcome() instanceof Outcome.Delivered) {
			settle(own, attempt.claim(), attempt.outcome(), settlement);
		}
		else {
			counted = count(own, head, attempt.outcome(), settlement);
		}
		BatchResult result = counted ? store(settlement, end + this.lease.toNanos()) : new BatchResult(0, 1, 0, 0, 1);
		report(settlement, result, Duration.ofNanos(end - start), end, lanes);
	}

	/**
	 * Claims a row whose attempt has ended.
	 * @return {@code false} if another instance has taken it since
	 */
	private boolean count(EventHandler own, QueuedEvent head, Outcome outcome, BatchSettlement settlement) {
		List<ClaimedEvent> claims = repeat(System.nanoTime() + this.lease.toNanos(),
				() -> this.table.claim(List.of(head), this.lease, this.rules.attempts()));
		for (ClaimedEvent claim : claims) {
			if (claim.undeliverable() != null) {
				settlement.add(claim, claim.undeliverable());
			}
			else {
				settle(own, claim, outcome, settlement);
			}
		}
		logUndeliverable(claims);
		return !claims.isEmpty();
	}

	private void settle(EventHandler handler, ClaimedEvent claim, Outcome outcome, BatchSettlement settlement) {
		if (outcome instanceof Outcome.Delivered && handler.removesEvents()) {
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
		if (!this.circuits.isClosed(this.publisher)) {
			this.circuits.record(List.of(claim.event()), List.of(new Outcome.Delivered()));
		}
	}

	/**
	 * Whether a failure is one of many in a row, so that it does not count, and the
	 * handler is only probed until an event succeeds.
	 */
	private boolean isOutage(ClaimedEvent claim, String reason) {
		boolean outage = this.streak.add(claim.lane());
		if (outage) {
			this.circuits.record(List.of(claim.event()), List.of(new Outcome.Unavailable(reason)));
		}
		return outage;
	}

	private void leave(ClaimedEvent claim, String reason, BatchSettlement settlement) {
		if (this.left.add(claim.lane(), claim.event().sequence())) {
			logger.warn("An event for {} is left to other versions for a day, and not counted: {}", this.publisher,
					reason);
		}
		settlement.addLeftToOthers(claim, reason);
	}

	/**
	 * The claims to publish: of each lane those up to the first row that could not be
	 * claimed, or cannot be published.
	 */
	private List<ClaimedEvent> unbroken(List<QueuedEvent> heads, List<ClaimedEvent> claims,
			BatchSettlement settlement) {
		Map<List<Long>, ClaimedEvent> byPlace = byPlace(claims);
		List<ClaimedEvent> unbroken = new ArrayList<>();
		for (QueuedEvent head : heads) {
			ClaimedEvent claim = byPlace.get(head.place());
			if (claim == null) {
				settlement.stop(head.lane());
			}
			else if (settlement.isStopped(head.lane())) {
				settlement.release(claim);
			}
			else if (claim.event().attempts() > this.rules.attempts()) {
				settlement.addExhausted(claim);
			}
			else if (claim.undeliverable() != null) {
				settlement.add(claim, claim.undeliverable());
			}
			else {
				unbroken.add(claim);
			}
		}
		logUndeliverable(claims);
		return unbroken;
	}

	private static Map<List<Long>, ClaimedEvent> byPlace(List<ClaimedEvent> claims) {
		return claims.stream().collect(Collectors.toMap(ClaimedEvent::place, Function.identity()));
	}

	/**
	 * One line for a batch: with a missing key, no event of a backlog can be delivered.
	 */
	private void logUndeliverable(List<ClaimedEvent> claims) {
		List<Outcome.Retry> retries = claims.stream()
			.map(ClaimedEvent::undeliverable)
			.filter(Outcome.Retry.class::isInstance)
			.map(Outcome.Retry.class::cast)
			.toList();
		if (!retries.isEmpty()) {
			logger.warn("{} of {} events for {} cannot be delivered yet; the first one: {}", retries.size(),
					claims.size(), this.publisher, retries.get(0).reason());
		}
	}

	/**
	 * Stores outcomes. Repeats this during an outage of the database, since the rows are
	 * leased until then.
	 */
	private BatchResult store(BatchSettlement settlement, long end) {
		return repeat(end, settlement::store);
	}

	private <T> T repeat(long end, Supplier<T> storing) {
		while (true) {
			try {
				return storing.get();
			}
			catch (RuntimeException ex) {
				if (this.draining || System.nanoTime() - end >= 0) {
					logger.warn("The outcomes of a batch for {} could not be stored; it is delivered again, with the "
							+ "same event ids, once its leases end: {}", this.publisher, OutageLog.reason(ex));
					throw ex;
				}
				logger.debug("The outcomes of a batch could not be stored; this is repeated", ex);
				pause();
			}
		}
	}

	private static void pause() {
		try {
			Thread.sleep(PAUSE_MILLIS);
		}
		catch (InterruptedException ex) {
			// Only publishers interrupt the threads of a relay.
		}
	}

	private void report(BatchSettlement settlement, BatchResult result, Duration took, long confirmed,
			Map<Long, LaneSignal> lanes) {
		if (result.size() > 0) {
			this.observer.published(this.publisher, result, took);
		}
		for (ClaimedEvent claim : settlement.delivered()) {
			LaneSignal wake = lanes.get(claim.lane());
			if (wake != null && wake.committed() != 0 && wake.row() == claim.event().sequence()) {
				this.observer.delivered(this.publisher, Duration.ofNanos(confirmed - wake.committed()));
			}
		}
		if (result.dead() > 0) {
			logger.error("{} for {} became dead, or block their keys; see the actuator endpoint 'outbox'",
					(result.dead() == 1) ? "1 event" : result.dead() + " events", this.publisher);
		}
	}

	/**
	 * Looks at the rows behind those that were settled: wakes of these lanes were dropped
	 * while their first rows were leased. An event without a key has no others behind it.
	 */
	private void lookAgain(BatchSettlement settlement, List<QueuedEvent> heads) {
		Set<List<Long>> delivered = byPlace(settlement.delivered()).keySet();
		Map<Long, QueuedEvent> last = new LinkedHashMap<>();
		for (QueuedEvent head : heads) {
			if (head.key() != null && delivered.contains(head.place())) {
				last.put(head.lane(), head);
			}
		}
		synchronized (this.lastDelivered) {
			last.forEach((lane, head) -> this.lastDelivered.put(lane, new LastDelivered(head)));
		}
		last.forEach((lane, head) -> {
			if (!settlement.isStopped(lane)) {
				lookAt(lane, head.id() + 1, head.topic());
			}
		});
		settlement.released().forEach((claim) -> lookAt(claim.lane(), claim.event().sequence(), claim.event().topic()));
		settlement.dead().forEach((claim) -> lookAt(claim.lane(), 0, claim.event().topic()));
	}

	private void lookAt(long lane, long row, String topic) {
		LaneSignal wake = new LaneSignal(lane, row, topic, 0);
		if (!keepsBack(wake)) {
			this.wakes.add(wake);
		}
	}

	/**
	 * Delivers the events that the workers have claimed.
	 */
	interface Sender {

		/**
		 * Delivers events and adds the outcome of each to the settlement.
		 * @param claims at least one
		 * @param sending whether there is time to send events
		 */
		void send(List<ClaimedEvent> claims, BooleanSupplier sending, BatchSettlement settlement);

		/**
		 * Whether the event with this row is to be published alone.
		 */
		default boolean isSuspect(List<Long> row) {
			return false;
		}

	}

	/**
	 * The rows of one statement that claims them.
	 *
	 * @param claims the rows that the statement has claimed
	 * @param begin when their leases began, by {@link System#nanoTime()}
	 */
	private record Claimed(List<QueuedEvent> heads, List<ClaimedEvent> claims, long begin) {

		List<Claimed> each() {
			Map<List<Long>, ClaimedEvent> byPlace = byPlace(this.claims);
			return this.heads.stream()
				.filter((head) -> byPlace.containsKey(head.place()))
				.map((head) -> new Claimed(List.of(head), List.of(byPlace.get(head.place())), this.begin))
				.toList();
		}

	}

	/**
	 * The last delivered row of a lane, as it was read.
	 */
	private record LastDelivered(QueuedEvent row) {

		/**
		 * Whether no row can be between a row that a search behind this one has found and
		 * this one. Another key of the lane may have an earlier row that committed later.
		 * In another epoch of the table, ids may have started again.
		 */
		boolean isFollowedBy(QueuedEvent next) {
			return next.id() > this.row.id() && next.topic().equals(this.row.topic())
					&& Objects.equals(next.key(), this.row.key()) && Objects.equals(next.epoch(), this.row.epoch());
		}

	}

}
