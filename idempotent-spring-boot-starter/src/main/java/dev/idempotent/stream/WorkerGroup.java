package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.work.Workers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running workers of all subscriptions, between one start and the next stop.
 */
final class WorkerGroup {

	private static final Logger logger = LoggerFactory.getLogger(WorkerGroup.class);

	/**
	 * A listener is not interrupted, however long it takes.
	 */
	private static final Duration MAX_STOP = Duration.ofDays(1);

	private final Workers workers = new Workers(false);

	private final Workers renewals = new Workers(true);

	private final List<Worker> all = new ArrayList<>();

	private final DedicatedRedisConnections connections;

	private final StreamOutages outages = new StreamOutages();

	WorkerGroup(DedicatedRedisConnections connections, List<Subscription> subscriptions, Duration minIdleTime,
			int maxDeliveries, RedeliveryPolicy redelivery, EntryObservers observers) {
		this.connections = connections;
		for (Subscription subscription : subscriptions) {
			for (int i = 0; i < subscription.concurrency(); i++) {
				Worker worker = new Worker(subscription, connections,
						new EntryDelivery(subscription, minIdleTime, maxDeliveries, redelivery, observers), minIdleTime,
						this.outages, this.workers);
				this.all.add(worker);
				this.workers.start("stream-" + subscription.stream() + "-" + (i + 1), worker::run, worker::recover);
			}
		}
		Duration period = minIdleTime.dividedBy(3);
		this.renewals.start("stream-renewal", () -> {
			this.renewals.pause(period);
			renew();
		}, (failure) -> logger.error("The entries in progress could not be renewed", failure));
	}

	@Nullable Duration unreachableFor() {
		return this.outages.unreachableFor();
	}

	/**
	 * Starts no further call and waits for those in progress.
	 */
	void stop() {
		boolean unusedWorkers = this.workers.stop(MAX_STOP);
		boolean unusedRenewals = this.renewals.stop(MAX_STOP);
	}

	/**
	 * Resets the idle time of entries that are being processed, so that no other consumer
	 * claims them, however long processing takes. A stream whose group is missing or
	 * whose shard is unavailable is skipped after its first failure, so that it does not
	 * delay the other streams.
	 */
	private void renew() {
		Set<String> failed = new HashSet<>();
		for (Worker worker : this.all) {
			if (!failed.contains(worker.stream()) && !isRenewed(worker)) {
				failed.add(worker.stream());
			}
		}
	}

	private boolean isRenewed(Worker worker) {
		try {
			return this.connections.use((connection) -> {
				worker.renew(connection);
				return true;
			});
		}
		catch (RuntimeException | Error ex) {
			// The worker itself reports the outage.
			logger.debug("The current entries of stream {} were not renewed", worker.stream(), ex);
			return false;
		}
	}

}
