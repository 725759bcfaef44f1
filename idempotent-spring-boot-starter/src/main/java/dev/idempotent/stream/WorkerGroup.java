package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import dev.idempotent.lettuce.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;

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

}
