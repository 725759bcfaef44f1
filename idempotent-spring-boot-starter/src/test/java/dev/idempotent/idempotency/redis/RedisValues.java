package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Reads and writes values of keys as {@link RedisIdempotencyStore} does.
 */
public final class RedisValues {

	private final RedisConnectionFactory factory;

	public RedisValues(RedisConnectionFactory factory) {
		this.factory = factory;
	}

	/**
	 * The states of all keys of the database, each named by its digest.
	 */
	public List<StoredKey.State> states() {
		try (RedisConnection connection = this.factory.getConnection()) {
			Set<byte[]> names = connection.keyCommands().keys(bytesOf("*[0-9a-f]"));
			return names.stream().map((name) -> state(read(connection, name))).toList();
		}
	}

	public StoredKey.State state(String name) {
		return state(read(name));
	}

	public String token(String name) {
		return read(name).token();
	}

	public StoredResponse response(String name) {
		return read(name).response();
	}

	/**
	 * The bytes of a value.
	 */
	public byte @Nullable [] bytes(String name) {
		try (RedisConnection connection = this.factory.getConnection()) {
			return connection.stringCommands().get(bytesOf(name));
		}
	}

	public void pending(String name, String token, Fingerprint fingerprint) {
		set(name, RedisValue.pending(token, fingerprint, null));
	}

	public void completed(String name, String token, Fingerprint fingerprint, StoredResponse response) {
		set(name, RedisValue.completed(token, fingerprint, response));
	}

	public void set(String name, byte[] value) {
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.stringCommands().set(bytesOf(name), value);
		}
	}

	private RedisValue read(String name) {
		try (RedisConnection connection = this.factory.getConnection()) {
			return read(connection, bytesOf(name));
		}
	}

	private static RedisValue read(RedisConnection connection, byte[] name) {
		byte[] value = Objects.requireNonNull(connection.stringCommands().get(name));
		return Objects.requireNonNull(RedisValue.read(value));
	}

	private static StoredKey.State state(RedisValue value) {
		return value.isCompleted() ? StoredKey.State.COMPLETED : StoredKey.State.PENDING;
	}

	private static byte[] bytesOf(String name) {
		return name.getBytes(StandardCharsets.UTF_8);
	}

}
