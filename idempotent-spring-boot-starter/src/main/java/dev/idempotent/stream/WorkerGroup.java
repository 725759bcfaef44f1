package dev.idempotent.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import dev.idempotent.lettuce.DedicatedRedisConnections;

/**
 * The workers from a start to the next stop.
 */
final class WorkerGroup {

	private final CountDownLatch stop = new CountDownLatch(1);

	private final List<Thread> threads = new ArrayList<>();

	private final ScheduledExecutorService clock;

	private final Renewal renewal;

	WorkerGroup(DedicatedRedisConnections connections, List<Subscription> subscriptions,
			StreamListenerSettings settings, RedeliveryPolicy postponement) {
		List<Worker> workers = new ArrayList<>();
		OutageLog outage = new OutageLog();
		for (Subscription subscription : subscriptions) {
			for (int i = 0; i < subscription.concurrency(); i++) {
				Worker worker = new Worker(subscription, connections,
						new Delivery(subscription, settings, postponement), settings, outage, this.stop);
				workers.add(worker);
				this.threads.add(new Thread(worker, "stream-" + subscription.stream() + "-" + (i + 1)));
			}
		}
		this.renewal = new Renewal(workers, connections);
		this.clock = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "stream-renewal");
			thread.setDaemon(true);
			return thread;
		});
		long period = Math.max(1, settings.minIdleTime().toMillis() / 3);
		ScheduledFuture<?> unused = this.clock.scheduleWithFixedDelay(this.renewal, period, period,
				TimeUnit.MILLISECONDS);
		this.threads.forEach(Thread::start);
	}

	/**
	 * Begins no further call and waits for those that have begun.
	 */
	void end() {
		this.stop.countDown();
		try {
			for (Thread thread : this.threads) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.clock.execute(this.renewal::discard);
		this.clock.shutdown();
	}

}
