package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.lettuce.DedicatedRedisConnection;
import dev.idempotent.lettuce.DedicatedRedisConnections;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer of a group with a thread and a connection of its own. Brings one entry after
 * the other to the method.
 */
final class Worker implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamListenerContainer.class);

	private static final Duration FIRST_RECONNECT = Duration.ofMillis(100);

	private static final Duration LONGEST_RECONNECT = Duration.ofSeconds(5);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

	private static final Duration FORGOTTEN = Duration.ofHours(1);

	private final String name = "idempotent-" + UUID.randomUUID();

	private final Subscription subscription;

	private final DedicatedRedisConnections connections;

	private final Delivery delivery;

	private final StreamListenerSettings settings;

	private final OutageLog outage;

	private final CountDownLatch stop;

	private final EntrySource source;

	private volatile @Nullable String inHand;

	/**
	 * Entries that are done, of which Redis may not know.
	 */
	private final Queue<String> done = new ArrayDeque<>();

	private int failures;

	private int postponed;

	Worker(Subscription subscription, DedicatedRedisConnections connections, Delivery delivery,
			StreamListenerSettings settings, OutageLog outage, CountDownLatch stop) {
		this.subscription = subscription;
		this.connections = connections;
		this.delivery = delivery;
		this.settings = settings;
		this.source = new EntrySource(settings.minIdleTime());
		this.outage = outage;
		this.stop = stop;
	}

	@Override
	public void run() {
		while (isWanted()) {
			try {
				serve();
			}
			// An error, such as a short heap, may be past soon, too.
			catch (Throwable ex) {
				recover(ex);
			}
			finally {
				this.inHand = null;
			}
		}
		if (this.failures > 0) {
			this.outage.leave();
		}
	}

	String stream() {
		return this.subscription.stream();
	}

	/**
	 * Says for the entry in hand that it is being worked on.
	 * @param connection another one than this worker's, which may be blocked
	 */
	void renew(DedicatedRedisConnection connection) {
		String id = this.inHand;
		if (id != null) {
			consumer(connection).renew(id);
		}
	}

	private void recover(Throwable failure) {
		try {
			if (this.failures++ == 0) {
				this.outage.begin(failure);
			}
			pause(BackOff.after(this.failures, FIRST_RECONNECT, LONGEST_RECONNECT));
		}
		catch (Throwable ex) {
			// There is no memory to say so.
		}
	}

	private void serve() {
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

	private void consume(GroupConsumer consumer) {
		consumer.createGroup();
		acknowledgeDone(consumer);
		consumer.tidy(false, FORGOTTEN);
		while (isWanted()) {
			Entry entry = next(consumer);
			if (entry != null) {
				bring(consumer, entry);
			}
			if (this.failures > 0) {
				this.failures = 0;
				this.outage.end();
			}
		}
		consumer.tidy(true, FORGOTTEN);
	}

	private @Nullable Entry next(GroupConsumer consumer) {
		try {
			return this.source.next(consumer);
		}
		catch (RedisCommandExecutionException ex) {
			if (!GroupConsumer.isGroupLost(ex)) {
				throw ex;
			}
			logger.warn("Redis has lost the {}; it is made anew from the first entry", this.subscription);
			consumer.createGroup();
			return null;
		}
	}

	private void bring(GroupConsumer consumer, Entry entry) {
		if (!isWanted()) {
			consumer.handBack(entry.id(), this.settings.minIdleTime(), Math.max(0, entry.deliveries() - 1));
			return;
		}
		this.inHand = entry.id();
		Delivery.Result result = this.delivery.attempt(consumer, entry);
		if (result == Delivery.Result.DONE) {
			this.done.add(entry.id());
			acknowledgeDone(consumer);
		}
		this.inHand = null;
		pace(result);
	}

	/**
	 * Entries that are postponed one after the other share a cause, such as a database
	 * that is away. It is not asked as often as this worker can.
	 */
	private void pace(Delivery.Result result) {
		this.postponed = (result == Delivery.Result.POSTPONED) ? this.postponed + 1 : 0;
		if (this.postponed > 1) {
			pause(BackOff.after(this.postponed - 1, FIRST_PAUSE, LONGEST_PAUSE));
		}
	}

	private void acknowledgeDone(GroupConsumer consumer) {
		for (String id = this.done.peek(); id != null; id = this.done.peek()) {
			consumer.acknowledge(id);
			this.done.remove();
		}
	}

	private GroupConsumer consumer(DedicatedRedisConnection connection) {
		return new GroupConsumer(connection, this.connections.timeout(), this.subscription, this.name);
	}

	private boolean isWanted() {
		return this.stop.getCount() > 0;
	}

	private void pause(Duration time) {
		try {
			boolean unused = this.stop.await(time.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			// Nobody but a listener interrupts this thread: it goes on until it is told.
		}
	}

}
