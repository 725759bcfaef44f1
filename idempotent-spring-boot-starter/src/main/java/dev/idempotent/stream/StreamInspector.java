package dev.idempotent.stream;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.idempotent.redis.DedicatedRedisConnections.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.redis.ErrorReply;
import dev.idempotent.stream.StreamInspector.GroupMember;
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

	StreamInspector(List<Subscription> subscriptions, DedicatedRedisConnections connections) {
		this.subscriptions = subscriptions;
		this.connections = connections;
	}

	/**
	 * Reads the backlogs with one command per stream; waits for up to two seconds.
	 * @return without the groups whose backlog is not known
	 */
	public Map<ConsumerGroup, GroupBacklog> backlogs() {
		try {
			DedicatedRedisConnection connection = this.connections.borrow(QUICK);
			Inquiry inquiry = new Inquiry(connection, QUICK);
			try {
				return backlogs(inquiry);
			}
			finally {
				this.connections.giveBack(connection, !inquiry.isConnectionBroken());
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The backlogs of the streams could not be read", ex);
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
		try (DedicatedRedisConnection own = this.connections.connect()) {
			List<Supplier<GroupDetails>> replies = this.subscriptions.stream()
				.map((each) -> inquire(new Inquiry(own, timeout), each))
				.toList();
			return replies.stream().map(Supplier::get).toList();
		}
		catch (RuntimeException ex) {
			logger.debug("The state of the streams could not be read", ex);
			return this.subscriptions.stream().map(StreamInspector::unknown).toList();
		}
	}

	private Map<ConsumerGroup, GroupBacklog> backlogs(Inquiry inquiry) {
		Map<String, Future<List<Object>>> replies = new LinkedHashMap<>();
		this.subscriptions.forEach((each) -> replies.computeIfAbsent(each.stream(),
				(stream) -> inquiry.send((redis) -> redis.xinfoGroups(StreamEntry.bytes(stream)))));
		Map<ConsumerGroup, GroupBacklog> backlogs = new HashMap<>();
		for (Subscription each : this.subscriptions) {
			List<Object> groups = inquiry.await(Objects.requireNonNull(replies.get(each.stream())));
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
	 * Sends the commands for one group.
	 * @return waits for their replies
	 */
	private static Supplier<GroupDetails> inquire(Inquiry inquiry, Subscription subscription) {
		byte[] stream = StreamEntry.bytes(subscription.stream());
		Future<List<Object>> groups = inquiry.send((redis) -> redis.xinfoGroups(stream));
		Future<List<Object>> consumers = inquiry
			.send((redis) -> redis.xinfoConsumers(stream, StreamEntry.bytes(subscription.group())));
		Future<Long> length = inquiry.send((redis) -> redis.xlen(stream));
		Future<Long> deadLength = inquiry.send((redis) -> redis.xlen(StreamEntry.bytes(subscription.deadStream())));
		return () -> {
			List<Object> found = inquiry.await(groups);
			GroupBacklog backlog = (found != null) ? GroupBacklog.of(found, subscription.group()) : null;
			List<GroupMember> members = members(inquiry.await(consumers));
			Long entries = inquiry.await(length);
			Long deadEntries = inquiry.await(deadLength);
			return new GroupDetails(subscription.consumerGroup(), subscription.concurrency(), entries, backlog, members,
					subscription.deadStream(), deadEntries, inquiry.problem());
		};
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

	/**
	 * Commands that are sent together and whose replies are awaited until one deadline.
	 */
	private static final class Inquiry {

		static final String NO_REPLY = "Redis did not respond";

		private final DedicatedRedisConnection connection;

		private final long deadline;

		private @Nullable String problem;

		private boolean broken;

		Inquiry(DedicatedRedisConnection connection, Duration timeout) {
			this.connection = connection;
			this.deadline = System.nanoTime() + timeout.toNanos();
		}

		<T> Future<T> send(Function<RedisClusterAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
			try {
				return command.apply(this.connection.commands());
			}
			catch (RuntimeException ex) {
				return CompletableFuture.failedFuture(ex);
			}
		}

		/**
		 * Waits for a reply until the deadline.
		 * @return {@code null} if there is a {@linkplain #problem problem}
		 */
		<T> @Nullable T await(Future<T> reply) {
			try {
				return reply.get(Math.max(1, this.deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
			}
			catch (ExecutionException ex) {
				failed((ex.getCause() != null) ? ex.getCause() : ex);
			}
			catch (TimeoutException ex) {
				failed(ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				failed(ex);
			}
			return null;
		}

		private void failed(Throwable failure) {
			logger.debug("The state of a stream could not be read", failure);
			boolean rejected = failure instanceof RedisCommandExecutionException;
			this.broken |= !rejected || ErrorReply.requiresReconnect(failure);
			if (this.problem == null) {
				this.problem = rejected ? String.valueOf(failure.getMessage()) : NO_REPLY;
			}
		}

		/**
		 * Why the first of the missing replies is missing.
		 * @return {@code null} if there are all
		 */
		@Nullable String problem() {
			return this.problem;
		}

		/**
		 * Returns whether the connection must be discarded.
		 */
		boolean isConnectionBroken() {
			return this.broken;
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
			return (reply instanceof byte[] bytes) ? StreamEntry.text(bytes) : reply;
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
