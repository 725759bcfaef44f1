package dev.idempotent.stream;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.lettuce.DedicatedRedisConnection;
import dev.idempotent.lettuce.DedicatedRedisConnections;
import dev.idempotent.stream.GroupMember;
import dev.idempotent.stream.Inquiry.Reply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the state of the consumer groups that this process listens to, on connections of
 * its own. Does not throw: what Redis does not answer in time is missing.
 */
public final class StreamInspector {

	/**
	 * A scrape of meters must not take long.
	 */
	private static final Duration QUICK = Duration.ofSeconds(1);

	private static final int MAX_CONSUMERS = 100;

	private static final Logger logger = LoggerFactory.getLogger(StreamInspector.class);

	private final List<Subscription> subscriptions;

	private final DedicatedRedisConnections connections;

	private @Nullable DedicatedRedisConnection connection;

	private boolean closed;

	StreamInspector(List<Subscription> subscriptions, DedicatedRedisConnections connections) {
		this.subscriptions = subscriptions;
		this.connections = connections;
	}

	/**
	 * Reads the backlogs with one command per stream; waits for up to two seconds.
	 * @return without the groups whose backlog is not known
	 */
	public synchronized Map<ConsumerGroup, GroupBacklog> backlogs() {
		if (this.closed) {
			return Map.of();
		}
		try {
			if (this.connection == null || !this.connection.isOpen()) {
				disconnect();
				this.connection = this.connections.connect(QUICK);
			}
			Inquiry inquiry = new Inquiry(this.connection, QUICK);
			Map<ConsumerGroup, GroupBacklog> backlogs = backlogs(inquiry);
			if (inquiry.isConnectionBroken()) {
				disconnect();
			}
			return backlogs;
		}
		catch (RuntimeException ex) {
			logger.debug("The backlogs of the streams could not be read", ex);
			disconnect();
			return Map.of();
		}
	}

	/**
	 * Reads everything that an operator needs, on another connection; waits for up to ten
	 * seconds.
	 * @return one element for each group
	 */
	public List<GroupDetails> details() {
		Duration timeout = this.connections.timeout();
		try (DedicatedRedisConnection own = this.connections.connect(timeout)) {
			Inquiry inquiry = new Inquiry(own, timeout);
			List<Inquired> inquired = this.subscriptions.stream().map((each) -> new Inquired(inquiry, each)).toList();
			return inquired.stream().map(Inquired::details).toList();
		}
		catch (RuntimeException ex) {
			logger.debug("The state of the streams could not be read", ex);
			return this.subscriptions.stream().map(StreamInspector::unknown).toList();
		}
	}

	/**
	 * Forgets the connection, which the container closes with all others.
	 */
	synchronized void close() {
		this.closed = true;
		this.connection = null;
	}

	private void disconnect() {
		if (this.connection != null) {
			this.connections.discard(this.connection);
			this.connection = null;
		}
	}

	private Map<ConsumerGroup, GroupBacklog> backlogs(Inquiry inquiry) {
		Map<String, Reply<List<Object>>> replies = new LinkedHashMap<>();
		this.subscriptions.forEach((each) -> replies.computeIfAbsent(each.stream(),
				(stream) -> inquiry.send((redis) -> redis.xinfoGroups(Entry.bytes(stream)))));
		Map<ConsumerGroup, GroupBacklog> backlogs = new HashMap<>();
		for (Subscription each : this.subscriptions) {
			List<Object> groups = Objects.requireNonNull(replies.get(each.stream())).await();
			GroupBacklog backlog = (groups != null) ? GroupBacklog.of(groups, each.group()) : null;
			if (backlog != null) {
				backlogs.put(each.consumerGroup(), backlog);
			}
		}
		return backlogs;
	}

	private static GroupDetails unknown(Subscription subscription) {
		return new GroupDetails(subscription.consumerGroup(), subscription.concurrency(), null, null, List.of(),
				subscription.deadStream(), null, Inquiry.NO_REPLY);
	}

	/**
	 * The commands that have been sent for one group.
	 */
	private static final class Inquired {

		private final Subscription subscription;

		private final Reply<List<Object>> groups;

		private final Reply<List<Object>> consumers;

		private final Reply<Long> length;

		private final Reply<Long> deadLength;

		Inquired(Inquiry inquiry, Subscription subscription) {
			byte[] stream = Entry.bytes(subscription.stream());
			this.subscription = subscription;
			this.groups = inquiry.send((redis) -> redis.xinfoGroups(stream));
			this.consumers = inquiry.send((redis) -> redis.xinfoConsumers(stream, Entry.bytes(subscription.group())));
			this.length = inquiry.send((redis) -> redis.xlen(stream));
			this.deadLength = inquiry.send((redis) -> redis.xlen(Entry.bytes(subscription.deadStream())));
		}

		GroupDetails details() {
			List<Object> found = this.groups.await();
			GroupBacklog backlog = (found != null) ? GroupBacklog.of(found, this.subscription.group()) : null;
			return new GroupDetails(this.subscription.consumerGroup(), this.subscription.concurrency(),
					this.length.await(), backlog, members(this.consumers.await()), this.subscription.deadStream(),
					this.deadLength.await(), problem());
		}

		private @Nullable String problem() {
			return Stream.of(this.groups, this.consumers, this.length, this.deadLength)
				.map(Reply::problem)
				.filter(Objects::nonNull)
				.findFirst()
				.orElse(null);
		}

		private static List<GroupMember> members(@Nullable List<Object> reply) {
			return (reply == null) ? List.of()
					: reply.stream()
						.map(GroupMember::of)
						.sorted(Comparator.comparingLong(GroupMember::pending)
							.reversed()
							.thenComparingLong(GroupMember::idleMillis))
						.limit(MAX_CONSUMERS)
						.toList();
		}

	}

}
