package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.UUID;

import dev.idempotent.redis.DedicatedRedisConnections.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.concurrent.Backoff;
import dev.idempotent.concurrent.Workers;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer of a group with its own thread and connection. Processes one entry after the
 * other.
 */
final class Worker {

	private static final Logger logger = LoggerFactory.getLogger(Worker.class);

	private static final Backoff RECONNECT = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

	private static final Backoff UNCOUNTED = new Backoff(Duration.ofMillis(10), Duration.ofMillis(100));

	/**
	 * The idle time after which consumers of stopped instances are removed.
	 */
	private static final Duration MAX_CONSUMER_IDLE_TIME = Duration.ofHours(1);

	private static final Duration MAX_POLL = Duration.ofSeconds(1);

	private final String name = "idempotent-" + UUID.randomUUID();

	private final Subscription subscription;

	private final DedicatedRedisConnections connections;

	private final EntryDelivery delivery;

	private final Duration minIdleTime;

	private final StreamOutages outages;

	private final Workers threads;

	/**
	 * How long to wait for a new entry before pending ones are claimed again.
	 */
	private final Duration poll;

	private volatile @Nullable String currentId;

	/**
	 * Processed entries whose acknowledgement Redis has not confirmed.
	 */
	private final Queue<String> processed = new ArrayDeque<>();

	private long failures;

	private StreamOutages.@Nullable Outage outage;

	private long uncounted;

	private long lastEmptyClaim = System.nanoTime();

	private boolean isTurnOfNew;

	private @Nullable String lastClaimed;

	Worker(Subscription subscription, DedicatedRedisConnections connections, EntryDelivery delivery,
			Duration minIdleTime, StreamOutages outages, Workers threads) {
		this.subscription = subscription;
		this.connections = connections;
		this.delivery = delivery;
		this.minIdleTime = minIdleTime;
		Duration half = minIdleTime.dividedBy(2);
		this.poll = (half.compareTo(MAX_POLL) > 0) ? MAX_POLL : half;
		this.outages = outages;
		this.threads = threads;
	}

	/**
	 * Consumes on one connection until it fails or the worker is stopped.
	 */
	void run() {
		DedicatedRedisConnection connection = this.connections.connect();
		try {
			consume(consumer(connection));
			connection.close();
		}
		catch (RuntimeException | Error ex) {
			this.connections.discard(connection);
			throw ex;
		}
		finally {
			this.currentId = null;
		}
	}

	/**
	 * Reports an outage, and waits before the next connection.
	 */
	void recover(Throwable failure) {
		try {
			this.outage = this.outages.workerFailed(this.outage, this.subscription, failure);
		}
		finally {
			this.threads.pause(RECONNECT.after(++this.failures));
		}
	}

	String stream() {
		return this.subscription.stream();
	}

	/**
	 * Resets the idle time of the current entry, if there is one.
	 * @param connection not this worker's own, which may be blocked
	 */
	void renew(DedicatedRedisConnection connection) {
		String id = this.currentId;
		if (id != null) {
			consumer(connection).renew(id);
		}
	}

	private void consume(ConsumerOperations consumer) {
		consumer.createGroup();
		acknowledgeProcessed(consumer);
		consumer.removeIdleConsumers(false, MAX_CONSUMER_IDLE_TIME);
		while (!this.threads.isStopped()) {
			StreamEntry entry = next(consumer);
			if (entry != null) {
				process(consumer, entry);
			}
			if (this.outage != null) {
				this.outages.workerRecovered(this.outage);
				this.outage = null;
				this.failures = 0;
			}
		}
		consumer.removeIdleConsumers(true, MAX_CONSUMER_IDLE_TIME);
	}

	private @Nullable StreamEntry next(ConsumerOperations consumer) {
		try {
			return choose(consumer);
		}
		catch (RedisCommandExecutionException ex) {
			if (!ConsumerOperations.isGroupMissing(ex)) {
				throw ex;
			}
			logger.warn("The {} no longer exists in Redis; creating it again from the first entry", this.subscription);
			consumer.createGroup();
			return null;
		}
	}

	/**
	 * Chooses the next entry. Pending and new entries alternate while there are both, so
	 * that neither kind starves the other.
	 */
	private @Nullable StreamEntry choose(ConsumerOperations consumer) {
		StreamEntry entry = null;
		if (this.isTurnOfNew) {
			this.isTurnOfNew = false;
			entry = consumer.read(Duration.ZERO);
		}
		if (entry == null && System.nanoTime() - this.lastEmptyClaim > this.poll.toNanos()) {
			entry = claim(consumer);
		}
		return (entry != null) ? entry : consumer.read(this.poll);
	}

	/**
	 * Claims pending entries in rotation, so that an entry that keeps failing comes after
	 * all others.
	 */
	private @Nullable StreamEntry claim(ConsumerOperations consumer) {
		StreamEntry entry = consumer.claim(this.minIdleTime, this.lastClaimed);
		if (entry == null) {
			this.lastEmptyClaim = System.nanoTime();
			return null;
		}
		this.isTurnOfNew = true;
		this.lastClaimed = entry.id();
		return entry;
	}

	private void process(ConsumerOperations consumer, StreamEntry entry) {
		if (this.threads.isStopped()) {
			consumer.release(entry.id(), this.minIdleTime, Math.max(0, entry.deliveries() - 1));
			return;
		}
		this.currentId = entry.id();
		EntryDelivery.Result result = this.delivery.attempt(consumer, entry);
		if (result.isProcessed()) {
			this.processed.add(entry.id());
			acknowledgeProcessed(consumer);
		}
		this.currentId = null;
		throttle(result);
	}

	/**
	 * Consecutive failures that are not counted usually have one cause, such as an
	 * unavailable database. Pauses between them to avoid overloading it.
	 */
	private void throttle(EntryDelivery.Result result) {
		if (result != EntryDelivery.Result.NOT_COUNTED) {
			this.uncounted = 0;
		}
		else if (this.uncounted++ > 0) {
			this.threads.pause(UNCOUNTED.after(this.uncounted - 1));
		}
	}

	private void acknowledgeProcessed(ConsumerOperations consumer) {
		for (String id = this.processed.peek(); id != null; id = this.processed.peek()) {
			consumer.acknowledge(id);
			this.processed.remove();
		}
	}

	private ConsumerOperations consumer(DedicatedRedisConnection connection) {
		return new ConsumerOperations(connection, this.subscription, this.name);
	}

}
