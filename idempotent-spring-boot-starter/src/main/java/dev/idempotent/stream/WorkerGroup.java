package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import dev.idempotent.redis.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running workers of all subscriptions, between one start and the next stop.
 */
final class WorkerGroup {

	private final CountDownLatch stop = new CountDownLatch(1);

	private final List<Thread> threads = new ArrayList<>();

	private final ScheduledExecutorService scheduler;

	private final PendingEntryRenewal renewal;

	private final StreamOutages outages = new StreamOutages();

	WorkerGroup(DedicatedRedisConnections connections, List<Subscription> subscriptions, Duration minIdleTime,
			int maxDeliveries, RedeliveryPolicy redelivery, EntryObservers observers) {
		List<Worker> workers = new ArrayList<>();
		for (Subscription subscription : subscriptions) {
			for (int i = 0; i < subscription.concurrency(); i++) {
				Worker worker = new Worker(subscription, connections,
						new EntryDelivery(subscription, minIdleTime, maxDeliveries, redelivery, observers), minIdleTime,
						this.outages, this.stop);
				workers.add(worker);
				this.threads.add(new Thread(worker, "stream-" + subscription.stream() + "-" + (i + 1)));
			}
		}
		this.renewal = new PendingEntryRenewal(workers, connections);
		this.scheduler = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "stream-renewal");
			thread.setDaemon(true);
			return thread;
		});
		long period = Math.max(1, minIdleTime.toMillis() / 3);
		ScheduledFuture<?> unused = this.scheduler.scheduleWithFixedDelay(this.renewal, period, period,
				TimeUnit.MILLISECONDS);
		this.threads.forEach(Thread::start);
	}

	@Nullable Duration unreachableFor() {
		return this.outages.unreachableFor();
	}

	/**
	 * Starts no further call and waits for those in progress.
	 */
	void stop() {
		this.stop.countDown();
		try {
			for (Thread thread : this.threads) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.scheduler.execute(this.renewal::discard);
		this.scheduler.shutdown();
	}

	/**
	 * Resets the idle time of entries that are being processed, so that no other consumer
	 * claims them, however long processing takes.
	 */
	private static final class PendingEntryRenewal implements Runnable {

		private static final Logger logger = LoggerFactory.getLogger(PendingEntryRenewal.class);

		private final List<Worker> workers;

		private final DedicatedRedisConnections connections;

		private @Nullable DedicatedRedisConnection connection;

		PendingEntryRenewal(List<Worker> workers, DedicatedRedisConnections connections) {
			this.workers = workers;
			this.connections = connections;
		}

		/**
		 * Renews the current entry of every worker. A stream whose group is missing or
		 * whose shard is unavailable is skipped after its first failure, so that it does
		 * not delay the other streams.
		 */
		@Override
		public void run() {
			Set<String> failed = new HashSet<>();
			for (Worker worker : this.workers) {
				if (!failed.contains(worker.stream()) && !isRenewed(worker)) {
					failed.add(worker.stream());
				}
			}
		}

		private boolean isRenewed(Worker worker) {
			try {
				if (this.connection == null || !this.connection.isOpen()) {
					this.connection = this.connections.connect();
				}
				worker.renew(this.connection);
				return true;
			}
			catch (RuntimeException | Error ex) {
				// The worker itself reports the outage.
				logger.debug("The current entries of stream {} were not renewed", worker.stream(), ex);
				discard();
				return false;
			}
		}

		void discard() {
			if (this.connection != null) {
				this.connections.discard(this.connection);
				this.connection = null;
			}
		}

	}

}
