package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.concurrent.Workers;
import dev.idempotent.saga.store.StoredSaga;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that run sagas in the background: those that were started, and those whose
 * owner has died or released them. Sagas of one name get only some of the threads, and so
 * do all sagas together whose services have not answered, so that a service that does not
 * answer leaves threads to other sagas.
 */
final class SagaWorkers {

	private static final Logger logger = LoggerFactory.getLogger(SagaWorkers.class);

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

	private static final int RENEWALS_PER_LEASE = 3;

	private static final int MOST_WAITING = 1000;

	private static final int TIMERS = 3;

	/**
	 * How long a name is slow, which is longer than a saga waits for its next attempt.
	 */
	private static final Duration SLOW = Duration.ofMinutes(2);

	/**
	 * How many threads for each worker may be stuck in calls that cannot be interrupted.
	 */
	private static final int STUCK_PER_WORKER = 10;

	private static final Duration SHUTDOWN = Duration.ofSeconds(20);

	private static final ThreadLocal<@Nullable Permit> current = new ThreadLocal<>();

	private final SagaSettings settings;

	private final DueSagas due;

	private final Consumer<StoredSaga> work;

	private final Map<String, Integer> running = new HashMap<>();

	/**
	 * Locked to read or change any of these.
	 */
	private final Queue<Waiting> waiting = new ArrayDeque<>();

	/**
	 * When a service has not answered a saga of each of these names, as a value of
	 * {@link System#nanoTime}.
	 */
	private final Map<String, Long> slow = new HashMap<>();

	/**
	 * Threads that have released their worker, and whose task has not ended.
	 */
	private final Set<Permit> stuck = new HashSet<>();

	private int free;

	private int mostOfOneName;

	private volatile Set<String> names = Set.of();

	private volatile boolean moreAreDue;

	private final ExecutorService workers;

	private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(TIMERS,
			Workers.daemons("saga-timer-"));

	private final OutageLog outage = new OutageLog(logger, "Sagas that are due could not be read; trying again",
			"Sagas that are due are read again");

	/**
	 * Creates workers that are not started.
	 * @param threads creates the threads that run sagas
	 * @param due takes over sagas that are due
	 * @param work runs a saga that was taken over
	 */
	SagaWorkers(SagaSettings settings, ThreadFactory threads, DueSagas due, Consumer<StoredSaga> work) {
		this.settings = settings;
		this.due = due;
		this.work = work;
		this.free = settings.workers();
		this.mostOfOneName = settings.workers();
		this.workers = Executors.newCachedThreadPool(threads);
	}

	/**
	 * Starts the timers.
	 * @param served the names of the sagas that are taken over
	 * @param renewal renews the leases
	 * @param watch ends what takes too long
	 */
	void start(Collection<String> served, Runnable renewal, Runnable watch) {
		this.names = Set.copyOf(served);
		synchronized (this.waiting) {
			this.mostOfOneName = this.settings.workersPerName(this.names.size());
		}
		long renewed = Math.max(1, this.settings.lease().toMillis() / RENEWALS_PER_LEASE);
		Future<?> unusedRenewals = this.timers.scheduleWithFixedDelay(renewal, renewed, renewed, TimeUnit.MILLISECONDS);
		long polled = Math.max(1, Math.min(LONGEST_PAUSE.toMillis(), renewed));
		Future<?> unusedPolls = this.timers.scheduleWithFixedDelay(this::poll, 0, polled, TimeUnit.MILLISECONDS);
		Future<?> unusedWatch = this.timers.scheduleWithFixedDelay(watch, polled, polled, TimeUnit.MILLISECONDS);
	}

	/**
	 * Runs a task on a worker thread as soon as one is free. If too many tasks wait, it
	 * is left to those who find its saga when it is due.
	 * @param name the name of the saga
	 */
	void submit(String name, Runnable task) {
		synchronized (this.waiting) {
			if (this.waiting.size() >= MOST_WAITING) {
				return;
			}
			this.waiting.add(new Waiting(name, task));
		}
		runWaiting();
	}

	/**
	 * Returns what gives the worker of the calling thread back because a service has not
	 * answered its saga. Names of such sagas are slow for some time.
	 * @return has an effect once, and none outside a task
	 */
	static Runnable givingBackSlow() {
		Permit permit = current.get();
		return (permit != null) ? permit::giveBackSlow : () -> {
		};
	}

	private void runWaiting() {
		for (Waiting next = nextWaiting(); next != null; next = nextWaiting()) {
			execute(next.name(), next.task());
		}
	}

	/**
	 * Takes the first task of a name that may have another worker.
	 */
	private @Nullable Waiting nextWaiting() {
		synchronized (this.waiting) {
			Iterator<Waiting> tasks = this.waiting.iterator();
			while (this.free > 0 && tasks.hasNext()) {
				Waiting next = tasks.next();
				if (room(next.name()) > 0) {
					tasks.remove();
					this.free--;
					this.running.merge(next.name(), 1, Integer::sum);
					return next;
				}
			}
			return null;
		}
	}

	private int room(String name) {
		int own = this.mostOfOneName - this.running.getOrDefault(name, 0);
		return (this.slow.containsKey(name) && this.names.size() > 1) ? Math.min(own, roomOfSlow()) : own;
	}

	private int roomOfSlow() {
		long now = System.nanoTime();
		this.slow.values().removeIf((since) -> now - since > SLOW.toNanos());
		int taken = this.slow.keySet().stream().mapToInt((name) -> this.running.getOrDefault(name, 0)).sum();
		return this.settings.workersOfSlow() - taken;
	}

	/**
	 * Waits until all tasks have ended, or for 20 seconds. Their leases are renewed
	 * meanwhile.
	 */
	void close() {
		this.workers.shutdown();
		try {
			if (!this.workers.awaitTermination(SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS)) {
				logger.warn("Sagas are still running after {}; another instance takes them over when their leases "
						+ "have ended", SHUTDOWN);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.timers.shutdown();
	}

	boolean isClosing() {
		return this.workers.isShutdown();
	}

	/**
	 * Takes over as many sagas as there are free workers, which wait for them meanwhile.
	 */
	private void poll() {
		if (isClosing()) {
			return;
		}
		long start = System.nanoTime();
		int reserved;
		synchronized (this.waiting) {
			reserved = this.free;
			this.free = 0;
		}
		try {
			boolean more = reserved > 0;
			while (more) {
				Batch batch = nextBatch(reserved);
				List<StoredSaga> taken = batch.names().isEmpty() ? List.of()
						: this.due.takeOver(batch.names(), batch.limit());
				reserved -= taken.size();
				boolean full = batch.limit() > 0 && taken.size() == batch.limit();
				// Before the first of them can end.
				this.moreAreDue = full || batch.names().size() < this.names.size();
				taken.forEach((saga) -> {
					synchronized (this.waiting) {
						this.running.merge(saga.name(), 1, Integer::sum);
					}
					execute(saga.name(), () -> this.work.accept(saga));
				});
				more = full && reserved > 0;
			}
			this.outage.succeeded(start);
		}
		// An error would end the schedule.
		catch (RuntimeException | Error ex) {
			this.outage.failed(start, ex);
		}
		finally {
			synchronized (this.waiting) {
				this.free += reserved;
			}
			runWaiting();
		}
	}

	/**
	 * Returns the names that may have another worker, and how many sagas no name of them
	 * has too many of.
	 */
	private Batch nextBatch(int reserved) {
		synchronized (this.waiting) {
			Set<String> open = this.names.stream()
				.filter((name) -> room(name) > 0)
				.collect(Collectors.toUnmodifiableSet());
			int limit = open.stream().mapToInt(this::room).min().orElse(0);
			return new Batch(open, Math.min(limit, reserved));
		}
	}

	/**
	 * Runs a task that has a worker.
	 */
	private void execute(String name, Runnable task) {
		Permit permit = new Permit(name);
		try {
			this.workers.execute(() -> {
				current.set(permit);
				try {
					task.run();
				}
				catch (RuntimeException | Error ex) {
					logger.warn("A saga could not be run in the background: {}. It is taken over when it is due",
							OutageLog.reason(ex));
					logger.debug("The stack trace of the failure above", ex);
				}
				finally {
					current.remove();
					permit.end();
				}
			});
		}
		catch (RejectedExecutionException ex) {
			// The process is stopping; another one takes the saga over.
			permit.giveBack();
		}
	}

	/**
	 * Uses a worker that has become free, without waiting for the next poll.
	 */
	private void pollAgain() {
		if (this.moreAreDue && !isClosing()) {
			this.moreAreDue = false;
			try {
				this.timers.execute(this::poll);
			}
			catch (RejectedExecutionException ex) {
				logger.debug("The workers of sagas are stopping");
			}
		}
	}

	/**
	 * Takes over sagas that are due.
	 */
	@FunctionalInterface
	interface DueSagas {

		/**
		 * Takes over at most the given number of sagas of these names.
		 */
		List<StoredSaga> takeOver(Set<String> names, int limit);

	}

	/**
	 * A task that waits for a worker.
	 */
	private record Waiting(String name, Runnable task) {
	}

	/**
	 * The sagas to take over next.
	 */
	private record Batch(Set<String> names, int limit) {
	}

	/**
	 * The worker that a task has.
	 */
	private final class Permit {

		private final String name;

		private final AtomicBoolean given = new AtomicBoolean();

		private boolean ended;

		private Permit(String name) {
			this.name = name;
		}

		/**
		 * Keeps the worker if too many threads are stuck, so that their number is
		 * limited. The task may have ended meanwhile.
		 */
		private void giveBackSlow() {
			boolean kept;
			synchronized (SagaWorkers.this.waiting) {
				SagaWorkers.this.slow.put(this.name, System.nanoTime());
				if (this.ended) {
					return;
				}
				kept = SagaWorkers.this.stuck.size() >= SagaWorkers.this.settings.workers() * STUCK_PER_WORKER;
				if (!kept) {
					SagaWorkers.this.stuck.add(this);
				}
			}
			if (!kept) {
				giveBack();
			}
		}

		private void end() {
			synchronized (SagaWorkers.this.waiting) {
				SagaWorkers.this.stuck.remove(this);
				this.ended = true;
			}
			giveBack();
		}

		private void giveBack() {
			if (this.given.compareAndSet(false, true)) {
				synchronized (SagaWorkers.this.waiting) {
					SagaWorkers.this.free++;
					SagaWorkers.this.running.merge(this.name, -1, Integer::sum);
				}
				runWaiting();
				pollAgain();
			}
		}

	}

}
