package dev.idempotent.inbox;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.lettuce.OwnConnection;
import dev.idempotent.lettuce.OwnConnections;
import io.lettuce.core.RedisCommandExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer of a group with a thread and a connection of its own. Brings one entry after
 * the other to the method.
 */
final class Worker implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamInbox.class);

	private static final int BATCH = 10;

	/**
	 * One that ends its process must not count deliveries of others.
	 */
	private static final int CLAIMED_AT_ONCE = 1;

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration FIRST_RECONNECT = Duration.ofMillis(100);

	private static final Duration LONGEST_RECONNECT = Duration.ofSeconds(5);

	private static final Duration FORGOTTEN = Duration.ofHours(1);

	private final String name = "inbox-" + UUID.randomUUID();

	private final Subscription subscription;

	private final OwnConnections connections;

	private final Delivery delivery;

	private final InboxSettings settings;

	private final Outage outage;

	private final CountDownLatch stop;

	private final Hand hand = new Hand();

	/**
	 * Entries that are done, of which Redis may not know.
	 */
	private final Queue<String> done = new ArrayDeque<>();

	private long lastClaim = System.nanoTime();

	private int failures;

	Worker(Subscription subscription, OwnConnections connections, Delivery delivery, InboxSettings settings,
			Outage outage, CountDownLatch stop) {
		this.subscription = subscription;
		this.connections = connections;
		this.delivery = delivery;
		this.settings = settings;
		this.outage = outage;
		this.stop = stop;
	}

	@Override
	public void run() {
		while (isWanted()) {
			try {
				serve();
			}
			catch (RuntimeException ex) {
				if (this.failures++ == 0) {
					this.outage.begin(ex);
				}
				pause(BackOff.after(this.failures, FIRST_RECONNECT, LONGEST_RECONNECT));
			}
			finally {
				this.hand.putDownAll();
			}
		}
		if (this.failures > 0) {
			this.outage.leave();
		}
	}

	/**
	 * Says for the entries in hand that they are being worked on.
	 * @param connection another one than this worker's, which may be blocked
	 */
	void renew(OwnConnection connection) {
		var ids = this.hand.ids();
		if (!ids.isEmpty()) {
			consumer(connection).renew(ids);
		}
	}

	private void serve() {
		OwnConnection connection = this.connections.connect();
		try {
			consume(consumer(connection));
			connection.close();
		}
		catch (RuntimeException ex) {
			this.connections.discard(connection);
			throw ex;
		}
	}

	private void consume(GroupConsumer consumer) {
		consumer.createGroup();
		acknowledgeDone(consumer);
		consumer.tidy(false, FORGOTTEN);
		while (isWanted()) {
			bring(consumer, next(consumer));
			if (this.failures > 0) {
				this.failures = 0;
				this.outage.end();
			}
		}
		consumer.tidy(true, FORGOTTEN);
	}

	/**
	 * Old entries are asked for at least each second, and new ones whenever there are no
	 * old ones.
	 */
	private List<Entry> next(GroupConsumer consumer) {
		Duration poll = pollInterval();
		try {
			if (System.nanoTime() - this.lastClaim > poll.toNanos()) {
				List<Entry> abandoned = consumer.claim(CLAIMED_AT_ONCE, this.settings.claimIdle());
				if (!abandoned.isEmpty()) {
					return abandoned;
				}
				this.lastClaim = System.nanoTime();
			}
			return consumer.read(BATCH, poll);
		}
		catch (RedisCommandExecutionException ex) {
			if (!GroupConsumer.isGroupLost(ex)) {
				throw ex;
			}
			logger.warn("Redis has lost the {}; it is made anew from the first entry", this.subscription);
			consumer.createGroup();
			return List.of();
		}
	}

	private void bring(GroupConsumer consumer, List<Entry> entries) {
		this.hand.take(entries);
		for (Entry entry : entries) {
			if (isWanted()) {
				if (this.delivery.attempt(consumer, entry)) {
					this.done.add(entry.id());
					acknowledgeDone(consumer);
				}
			}
			else {
				consumer.handBack(entry.id(), this.settings.claimIdle(), Math.max(0, entry.deliveries() - 1));
			}
			this.hand.putDown(entry);
		}
	}

	private void acknowledgeDone(GroupConsumer consumer) {
		for (String id = this.done.peek(); id != null; id = this.done.peek()) {
			consumer.acknowledge(id);
			this.done.remove();
		}
	}

	private GroupConsumer consumer(OwnConnection connection) {
		return new GroupConsumer(connection, this.connections.timeout(), this.subscription, this.name);
	}

	private Duration pollInterval() {
		Duration half = this.settings.claimIdle().dividedBy(2);
		return (half.compareTo(SECOND) > 0) ? SECOND : half;
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
