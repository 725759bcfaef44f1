package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.redis.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;

/**
 * A consumer of a group with its own thread and connection. Processes one entry after the
 * other.
 */
final class Worker implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(Worker.class);

	private static final BackOff RECONNECT = new JitteredBackOff(Duration.ofMillis(100), Duration.ofSeconds(5));

	private static final BackOff UNCOUNTED_BACKOFF = new JitteredBackOff(Duration.ofMillis(10), Duration.ofMillis(100));

	/**
	 * The idle time after which consumers of stopped instances are removed.
	 */
	private static final Duration MAX_CONSUMER_IDLE_TIME = Duration.ofHours(1);

	private final String name = "idempotent-" + UUID.randomUUID();

	private final Subscription subscription;

	private final DedicatedRedisConnections connections;

	private final EntryDelivery delivery;

	private final Duration minIdleTime;

	private final StreamOutages outages;

	private final CountDownLatch stop;

	private final EntryReader reader;

	private volatile @Nullable String currentId;

	/**
	 * Processed entries whose acknowledgement Redis has not confirmed.
	 */
	private final Queue<String> processed = new ArrayDeque<>();

	private @Nullable BackOffExecution reconnect;

	private StreamOutages.@Nullable Outage outage;

	private @Nullable BackOffExecution uncounted;

	Worker(Subscription subscription, DedicatedRedisConnections connections, EntryDelivery delivery,
			Duration minIdleTime, StreamOutages outages, CountDownLatch stop) {
		this.subscription = subscription;
		this.connections = connections;
		this.delivery = delivery;
		this.minIdleTime = minIdleTime;
		this.reader = new EntryReader(minIdleTime);
		this.outages = outages;
		this.stop = stop;
	}

	@Override
	public void run() {
		while (isRunning()) {
			try {
				connectAndConsume();
			}
			// Errors such as a full heap may be temporary, too.
			catch (Throwable ex) {
				recover(ex);
			}
			finally {
				this.currentId = null;
			}
		}
		if (this.outage != null) {
			this.outages.workerStopped(this.outage);
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

	private void recover(Throwable failure) {
		try {
			if (this.reconnect == null) {
				this.reconnect = RECONNECT.start();
			}
			try {
				this.outage = this.outages.workerFailed(this.outage, this.subscription, failure);
			}
			finally {
				pause(this.reconnect.nextBackOff());
			}
		}
		catch (Throwable ex) {
			// Logging failed for lack of memory.
		}
	}

	private void connectAndConsume() {
		DedicatedRedisConnection connection = this.connections.connect();
		try {
			consume(consumer(connection));
			connection.close();
		}
		catch (RuntimeException | Error ex) {
			this.connections.discard(connection);
			throw ex;
		}
	}

	private void consume(ConsumerOperations consumer) {
		consumer.createGroup();
		acknowledgeProcessed(consumer);
		consumer.removeIdleConsumers(false, MAX_CONSUMER_IDLE_TIME);
		while (isRunning()) {
			Entry entry = next(consumer);
			if (entry != null) {
				process(consumer, entry);
			}
			if (this.outage != null) {
				this.outages.workerRecovered(this.outage);
				this.outage = null;
				this.reconnect = null;
			}
		}
		consumer.removeIdleConsumers(true, MAX_CONSUMER_IDLE_TIME);
	}

	private @Nullable Entry next(ConsumerOperations consumer) {
		try {
			return this.reader.next(consumer);
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

	private void process(ConsumerOperations consumer, Entry entry) {
		if (!isRunning()) {
			consumer.release(entry.id(), this.minIdleTime, Math.max(0, entry.deliveries() - 1));
			return;
		}
		this.currentId = entry.id();
		EntryDelivery.Result result = this.delivery.attempt(consumer, entry);
		if (result == EntryDelivery.Result.PROCESSED) {
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
			this.uncounted = null;
		}
		else if (this.uncounted == null) {
			this.uncounted = UNCOUNTED_BACKOFF.start();
		}
		else {
			pause(this.uncounted.nextBackOff());
		}
	}

	private void acknowledgeProcessed(ConsumerOperations consumer) {
		for (String id = this.processed.peek(); id != null; id = this.processed.peek()) {
			consumer.acknowledge(id);
			this.processed.remove();
		}
	}

	private ConsumerOperations consumer(DedicatedRedisConnection connection) {
		return new ConsumerOperations(connection, this.connections.timeout(), this.subscription, this.name);
	}

	private boolean isRunning() {
		return this.stop.getCount() > 0;
	}

	private void pause(long millis) {
		try {
			boolean unused = this.stop.await(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			// Only a listener can have interrupted this thread, which keeps running.
		}
	}

	/**
	 * Chooses the next entry of an idle worker. Pending and new entries alternate while
	 * there are both, so that neither kind starves the other.
	 */
	private static final class EntryReader {

		private static final Duration MAX_POLL = Duration.ofSeconds(1);

		private final Duration minIdleTime;

		private final Duration poll;

		private long lastEmptyClaim = System.nanoTime();

		private boolean isTurnOfNew;

		private @Nullable String lastClaimed;

		EntryReader(Duration minIdleTime) {
			Duration half = minIdleTime.dividedBy(2);
			this.minIdleTime = minIdleTime;
			this.poll = (half.compareTo(MAX_POLL) > 0) ? MAX_POLL : half;
		}

		/**
		 * Waits up to a second for an entry.
		 * @return the entry, or {@code null} if there is none
		 */
		@Nullable Entry next(ConsumerOperations consumer) {
			Entry entry = null;
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
		 * Claims pending entries in rotation, so that an entry that keeps failing comes
		 * after all others.
		 */
		private @Nullable Entry claim(ConsumerOperations consumer) {
			Entry entry = consumer.claim(this.minIdleTime, this.lastClaimed);
			if (entry == null) {
				this.lastEmptyClaim = System.nanoTime();
				return null;
			}
			this.isTurnOfNew = true;
			this.lastClaimed = entry.id();
			return entry;
		}

	}

}
