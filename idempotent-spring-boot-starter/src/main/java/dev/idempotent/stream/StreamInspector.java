package dev.idempotent.stream;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.redis.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.redis.ErrorReply;
import dev.idempotent.stream.StreamInspector.GroupMember;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
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
		Map<String, Inquiry.Reply<List<Object>>> replies = new LinkedHashMap<>();
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

		private final Inquiry.Reply<List<Object>> groups;

		private final Inquiry.Reply<List<Object>> consumers;

		private final Inquiry.Reply<Long> length;

		private final Inquiry.Reply<Long> deadLength;

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
				.map(Inquiry.Reply::problem)
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

	/**
	 * Commands that are sent together and whose replies are awaited until one deadline.
	 */
	private static final class Inquiry {

		static final String NO_REPLY = "Redis did not respond";

		private static final Logger logger = LoggerFactory.getLogger(Inquiry.class);

		private final DedicatedRedisConnection connection;

		private final long deadline;

		private boolean broken;

		Inquiry(DedicatedRedisConnection connection, Duration timeout) {
			this.connection = connection;
			this.deadline = System.nanoTime() + timeout.toNanos();
		}

		<T> Reply<T> send(Function<RedisClusterAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
			try {
				return new Reply<>(command.apply(this.connection.commands()));
			}
			catch (RuntimeException ex) {
				return new Reply<>(problemOf(ex));
			}
		}

		/**
		 * Returns whether the connection must be discarded.
		 */
		boolean isConnectionBroken() {
			return this.broken;
		}

		private String problemOf(RuntimeException failure) {
			logger.debug("The state of a stream could not be read", failure);
			boolean rejected = failure instanceof RedisCommandExecutionException;
			this.broken |= !rejected || ErrorReply.requiresReconnect(failure);
			return rejected ? String.valueOf(failure.getMessage()) : NO_REPLY;
		}

		/**
		 * The reply to one command.
		 */
		final class Reply<T> {

			private final @Nullable RedisFuture<T> future;

			private @Nullable String problem;

			private Reply(RedisFuture<T> future) {
				this.future = future;
			}

			private Reply(String problem) {
				this.future = null;
				this.problem = problem;
			}

			/**
			 * Waits until the deadline.
			 * @return {@code null} if there is a {@linkplain #problem problem}
			 */
			@Nullable T await() {
				if (this.future == null || this.problem != null) {
					return null;
				}
				try {
					long left = Math.max(1, Inquiry.this.deadline - System.nanoTime());
					return LettuceFutures.awaitOrCancel(this.future, left, TimeUnit.NANOSECONDS);
				}
				catch (RuntimeException ex) {
					this.problem = problemOf(ex);
					return null;
				}
			}

			/**
			 * Why there is no reply.
			 * @return {@code null} if there is one
			 */
			@Nullable String problem() {
				return this.problem;
			}

		}

	}

	/**
	 * The state of a consumer group as Redis reports it.
	 *
	 * @param pending the number of entries that were delivered and are not acknowledged
	 * @param lag the number of entries that were not delivered yet, or {@code null} if
	 * Redis does not know it: before Redis 7, or after entries were deleted
	 * @param consumers the number of consumers
	 * @param lastDeliveredId the id of the newest entry that was delivered
	 */
	public record GroupBacklog(long pending, @Nullable Long lag, long consumers, String lastDeliveredId) {

		/**
		 * Finds a group in the reply to {@code XINFO GROUPS}.
		 * @return {@code null} if the group does not exist
		 */
		static @Nullable GroupBacklog of(List<?> groups, String group) {
			for (Object each : groups) {
				Map<String, Object> fields = fields(each);
				if (group.equals(fields.get("name"))) {
					return new GroupBacklog(number(fields, "pending"), (Long) fields.get("lag"),
							number(fields, "consumers"), String.valueOf(fields.get("last-delivered-id")));
				}
			}
			return null;
		}

		/**
		 * The fields of an element of a reply, with texts as strings.
		 */
		static Map<String, Object> fields(Object element) {
			List<?> names = (List<?>) element;
			Map<String, Object> fields = new HashMap<>();
			for (int i = 0; i + 1 < names.size(); i += 2) {
				fields.put(String.valueOf(value(names.get(i))), value(names.get(i + 1)));
			}
			return fields;
		}

		static long number(Map<String, Object> fields, String name) {
			return (fields.get(name) instanceof Long number) ? number : 0;
		}

		private static @Nullable Object value(@Nullable Object reply) {
			return (reply instanceof byte[] bytes) ? Entry.text(bytes) : reply;
		}

	}

	/**
	 * A consumer of a group.
	 *
	 * @param name its name
	 * @param pending the number of its pending entries
	 * @param idleMillis the milliseconds since it last tried to read
	 */
	public record GroupMember(String name, long pending, long idleMillis) {

		static GroupMember of(Object element) {
			Map<String, Object> fields = GroupBacklog.fields(element);
			return new GroupMember(String.valueOf(fields.get("name")), GroupBacklog.number(fields, "pending"),
					GroupBacklog.number(fields, "idle"));
		}

	}

	/**
	 * A consumer group with its stream and its dead-letter stream. Numbers are
	 * {@code null} where Redis has not answered or has rejected the command.
	 *
	 * @param group the group
	 * @param concurrency how many entries this process handles at the same time
	 * @param length the number of entries in the stream, processed ones included
	 * @param backlog {@code null} if the group does not exist
	 * @param consumers those with the most pending entries, up to 100
	 * @param deadStream the key of the dead-letter stream
	 * @param deadLength the number of entries in the dead-letter stream
	 * @param problem why numbers are missing, or {@code null}
	 */
	public record GroupDetails(ConsumerGroup group, int concurrency, @Nullable Long length,
			@Nullable GroupBacklog backlog, List<GroupMember> consumers, String deadStream, @Nullable Long deadLength,
			@Nullable String problem) {
	}

}
