package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import dev.idempotent.lettuce.DedicatedRedisConnection;
import io.lettuce.core.Consumer;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XGroupCreateArgs;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.cluster.SlotHash;
import org.jspecify.annotations.Nullable;

/**
 * What one consumer of a group can ask of Redis, on one connection. Each verb throws
 * {@link io.lettuce.core.RedisException} if Redis does not do it, or does not say so in
 * time.
 */
final class GroupConsumer {

	private final DedicatedRedisConnection connection;

	private final Duration timeout;

	private final byte[] stream;

	private final byte[] group;

	private final byte[] dead;

	private final byte[] name;

	GroupConsumer(DedicatedRedisConnection connection, Duration timeout, Subscription subscription, String name) {
		this.connection = connection;
		this.timeout = timeout;
		this.stream = Entry.bytes(subscription.stream());
		this.group = Entry.bytes(subscription.group());
		this.dead = Entry.bytes(subscription.deadStream());
		this.name = Entry.bytes(name);
	}

	/**
	 * Makes the group, and the stream, if they are not there. It begins with the first
	 * entry.
	 */
	void createGroup() {
		try {
			await(this.connection.commands()
				.xgroupCreate(StreamOffset.from(this.stream, "0"), this.group, XGroupCreateArgs.Builder.mkstream()));
		}
		catch (RedisCommandExecutionException ex) {
			if (!startsWith(ex, "BUSYGROUP")) {
				throw ex;
			}
		}
	}

	/**
	 * Reads one entry that no consumer was brought yet. What is read is a consumer's own,
	 * so that a worker that reads ahead would keep entries from workers that are free.
	 * @param wait how long to wait for it; zero does not wait
	 * @return the entry, or {@code null} if there is none
	 */
	@SuppressWarnings("unchecked")
	@Nullable Entry read(Duration wait) {
		XReadArgs one = XReadArgs.Builder.count(1);
		List<StreamMessage<byte[], byte[]>> messages = await(this.connection.commands()
			.xreadgroup(Consumer.from(this.group, this.name), wait.isZero() ? one : one.block(wait),
					StreamOffset.lastConsumed(this.stream)));
		return messages.isEmpty() ? null : entry(messages.get(0));
	}

	/**
	 * Takes over one entry that nobody has worked on for a while. One that ends its
	 * process must not count deliveries of others.
	 * @param after the id of the entry after which to look first, or {@code null} to
	 * begin with the oldest
	 * @return the entry, without deliveries if it was trimmed, or {@code null} if there
	 * is none
	 */
	@Nullable Entry claim(Duration idle, @Nullable String after) {
		byte[] from = Entry.bytes((after != null) ? "(" + after : "-");
		List<Object> reply = await(this.connection.commands()
			.eval(LuaScript.CLAIM.text(), ScriptOutputType.MULTI, new byte[][] { this.stream },
					ofGroup(this.name, millis(idle), from)));
		return reply.isEmpty() ? null : entry(reply);
	}

	void acknowledge(String id) {
		await(this.connection.commands().xack(this.stream, this.group, id));
	}

	/**
	 * Lets the entry be taken over when it has been idle for so long, if it is still this
	 * consumer's.
	 */
	void handBack(String id, Duration idle, long deliveries) {
		run(LuaScript.HAND_BACK, this.name, Entry.bytes(id), millis(idle), Entry.bytes(deliveries));
	}

	void renew(String id) {
		run(LuaScript.RENEW, this.name, Entry.bytes(id));
	}

	/**
	 * Moves the entry to the stream of the dead, if it is still this consumer's. In a
	 * Cluster where that stream has another slot it is added and then acknowledged: who
	 * dies in between leaves it to be moved again.
	 */
	void deadLetter(Entry entry, Collection<byte[]> remarks) {
		byte[][] fields = Stream.concat(entry.fields().stream(), remarks.stream()).toArray(byte[][]::new);
		if (this.connection.isCluster() && SlotHash.getSlot(this.stream) != SlotHash.getSlot(this.dead)) {
			await(this.connection.commands().xadd(this.dead, (Object[]) fields));
			acknowledge(entry.id());
			return;
		}
		byte[][] arguments = Stream.concat(Stream.of(this.group, this.name, Entry.bytes(entry.id())), Stream.of(fields))
			.toArray(byte[][]::new);
		Long unused = await(this.connection.commands()
			.eval(LuaScript.BURY.text(), ScriptOutputType.INTEGER, new byte[][] { this.stream, this.dead }, arguments));
	}

	/**
	 * Removes consumers without entries that are long gone, and this one if it leaves.
	 */
	void tidy(boolean leaving, Duration idle) {
		run(LuaScript.TIDY, leaving ? this.name : new byte[0], millis(idle));
	}

	static boolean isGroupLost(RedisCommandExecutionException failure) {
		return startsWith(failure, "NOGROUP");
	}

	private void run(LuaScript script, byte[]... arguments) {
		Long unused = await(this.connection.commands()
			.eval(script.text(), ScriptOutputType.INTEGER, new byte[][] { this.stream }, ofGroup(arguments)));
	}

	private byte[][] ofGroup(byte[]... arguments) {
		return Stream.concat(Stream.of(this.group), Stream.of(arguments)).toArray(byte[][]::new);
	}

	private <T> T await(RedisFuture<T> reply) {
		return LettuceFutures.awaitOrCancel(reply, this.timeout.toNanos(), TimeUnit.NANOSECONDS);
	}

	private static Entry entry(StreamMessage<byte[], byte[]> message) {
		List<byte[]> fields = new ArrayList<>();
		message.getBody().forEach((name, value) -> {
			fields.add(name);
			fields.add(value);
		});
		return new Entry(message.getId(), 1, fields);
	}

	private static Entry entry(List<Object> reply) {
		String id = Entry.text((byte[]) reply.get(0));
		if (reply.size() == 1) {
			return new Entry(id, 0, List.of());
		}
		return new Entry(id, (Long) reply.get(1), ((List<?>) reply.get(2)).stream().map(byte[].class::cast).toList());
	}

	private static byte[] millis(Duration duration) {
		return Entry.bytes(duration.toMillis());
	}

	private static boolean startsWith(RedisCommandExecutionException failure, String code) {
		return String.valueOf(failure.getMessage()).startsWith(code);
	}

}
