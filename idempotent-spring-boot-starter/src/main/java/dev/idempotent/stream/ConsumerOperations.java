package dev.idempotent.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.redis.DedicatedRedisConnections.DedicatedRedisConnection;
import dev.idempotent.redis.LuaScript;
import io.lettuce.core.Consumer;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XGroupCreateArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.cluster.SlotHash;
import org.jspecify.annotations.Nullable;

/**
 * The Redis commands of one consumer of a group, on one connection. Each method throws a
 * {@link io.lettuce.core.RedisException} if the command fails or times out.
 */
final class ConsumerOperations {

	/**
	 * The number of names and values. Lua passes on at most 8000 arguments.
	 */
	private static final int MAX_SCRIPT_FIELDS = 7000;

	private static final LuaScript CLAIM = script("claim.lua");

	private static final LuaScript DEAD_LETTER = script("dead-letter.lua");

	private static final LuaScript RELEASE = script("release.lua");

	private static final LuaScript REMOVE_IDLE_CONSUMERS = script("remove-idle-consumers.lua");

	private static final LuaScript RENEW = script("renew.lua");

	private final DedicatedRedisConnection connection;

	private final byte[] stream;

	private final byte[] group;

	private final byte[] dead;

	private final byte[] name;

	ConsumerOperations(DedicatedRedisConnection connection, Subscription subscription, String name) {
		this.connection = connection;
		this.stream = StreamEntry.bytes(subscription.stream());
		this.group = StreamEntry.bytes(subscription.group());
		this.dead = StreamEntry.bytes(subscription.deadStream());
		this.name = StreamEntry.bytes(name);
	}

	/**
	 * Creates the group and the stream unless they exist. A new group starts with the
	 * first entry of the stream.
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
	 * Reads one new entry. Never more: an entry that was read belongs to this consumer,
	 * so reading ahead would withhold entries from idle workers.
	 * @param wait how long to wait for an entry; zero returns at once
	 * @return the entry, or {@code null} if there is none
	 */
	@SuppressWarnings("unchecked")
	@Nullable StreamEntry read(Duration wait) {
		XReadArgs one = XReadArgs.Builder.count(1);
		List<StreamMessage<byte[], byte[]>> messages = await(this.connection.commands()
			.xreadgroup(Consumer.from(this.group, this.name), wait.isZero() ? one : one.block(wait),
					StreamOffset.lastConsumed(this.stream)));
		return messages.isEmpty() ? null : entry(messages.get(0));
	}

	/**
	 * Claims one pending entry that has been idle. Never more: an entry that crashes the
	 * process must not count deliveries of others.
	 * @param idle the minimum idle time
	 * @param after the id behind which to search first, or {@code null} to begin with the
	 * oldest entry
	 * @return the entry, with 0 deliveries if it was trimmed, or {@code null} if there is
	 * none
	 */
	@Nullable StreamEntry claim(Duration idle, @Nullable String after) {
		byte[] from = StreamEntry.bytes((after != null) ? "(" + after : "-");
		List<?> reply = (List<?>) this.connection.run(CLAIM, ScriptOutputType.MULTI, new byte[][] { this.stream },
				withGroup(this.name, millis(idle), from));
		return reply.isEmpty() ? null : entry(reply);
	}

	void acknowledge(String id) {
		await(this.connection.commands().xack(this.stream, this.group, id));
	}

	/**
	 * Releases the entry with the given idle time and delivery count, if this consumer
	 * still owns it. It can be claimed once it reaches the minimum idle time.
	 */
	void release(String id, Duration idle, long deliveries) {
		run(RELEASE, this.name, StreamEntry.bytes(id), millis(idle), StreamEntry.bytes(deliveries));
	}

	/**
	 * Resets the idle time of the entry, if this consumer still owns it.
	 */
	void renew(String id) {
		run(RENEW, this.name, StreamEntry.bytes(id));
	}

	/**
	 * Moves the entry to the dead-letter stream, if this consumer still owns it. In a
	 * Cluster where that stream has another slot, and with very many fields, the move is
	 * not atomic and is repeated after a crash in between.
	 * @param reason names and values that are added to the entry's fields
	 * @return whether this consumer still owned the entry
	 */
	boolean deadLetter(StreamEntry entry, Collection<byte[]> reason) {
		byte[][] fields = Stream.concat(entry.fields().stream(), reason.stream()).toArray(byte[][]::new);
		if (fields.length > MAX_SCRIPT_FIELDS || isDeadStreamElsewhere()) {
			if (!isOwner(entry.id())) {
				return false;
			}
			await(this.connection.commands().xadd(this.dead, (Object[]) fields));
			acknowledge(entry.id());
			return true;
		}
		byte[][] arguments = Stream
			.concat(Stream.of(this.group, this.name, StreamEntry.bytes(entry.id())), Stream.of(fields))
			.toArray(byte[][]::new);
		Long moved = (Long) this.connection.run(DEAD_LETTER, ScriptOutputType.INTEGER,
				new byte[][] { this.stream, this.dead }, arguments);
		return moved > 0;
	}

	private boolean isDeadStreamElsewhere() {
		return this.connection.isCluster() && SlotHash.getSlot(this.stream) != SlotHash.getSlot(this.dead);
	}

	private boolean isOwner(String id) {
		return !await(this.connection.commands()
			.xpending(this.stream, Consumer.from(this.group, this.name), Range.create(id, id), Limit.from(1)))
			.isEmpty();
	}

	/**
	 * Removes idle consumers without pending entries, and this one if it is leaving.
	 */
	void removeIdleConsumers(boolean leaving, Duration idle) {
		run(REMOVE_IDLE_CONSUMERS, leaving ? this.name : new byte[0], millis(idle));
	}

	static boolean isGroupMissing(RedisCommandExecutionException failure) {
		return startsWith(failure, "NOGROUP");
	}

	private void run(LuaScript script, byte[]... arguments) {
		Object unused = this.connection.run(script, ScriptOutputType.INTEGER, new byte[][] { this.stream },
				withGroup(arguments));
	}

	private byte[][] withGroup(byte[]... arguments) {
		return Stream.concat(Stream.of(this.group), Stream.of(arguments)).toArray(byte[][]::new);
	}

	private <T> T await(RedisFuture<T> reply) {
		return this.connection.await(reply);
	}

	private static LuaScript script(String file) {
		return LuaScript.of(ConsumerOperations.class, file);
	}

	private static StreamEntry entry(StreamMessage<byte[], byte[]> message) {
		List<byte[]> fields = new ArrayList<>();
		message.getBody().forEach((name, value) -> {
			fields.add(name);
			fields.add(value);
		});
		return new StreamEntry(message.getId(), 1, fields);
	}

	private static StreamEntry entry(List<?> reply) {
		String id = StreamEntry.text((byte[]) reply.get(0));
		if (reply.size() == 1) {
			return new StreamEntry(id, 0, List.of());
		}
		return new StreamEntry(id, (Long) reply.get(1),
				((List<?>) reply.get(2)).stream().map(byte[].class::cast).toList());
	}

	private static byte[] millis(Duration duration) {
		return StreamEntry.bytes(duration.toMillis());
	}

	private static boolean startsWith(RedisCommandExecutionException failure, String code) {
		return String.valueOf(failure.getMessage()).startsWith(code);
	}

}
