package dev.idempotent.sample.stock;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.core.types.Expiration;

/**
 * The keys of a gate.
 */
class GateKeys {

	private static final RedisScript<String> AGE = RedisScript.of("""
			local tickets = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
			for i = 1, #tickets, 2 do
			  redis.call('ZADD', KEYS[2], tickets[i + 1] - 60000, tickets[i])
			end
			local owners = redis.call('HGETALL', KEYS[3])
			for i = 1, #owners, 2 do
			  local fact = cjson.decode(owners[i + 1])
			  fact[2] = fact[2] - 60000
			  redis.call('HSET', KEYS[3], owners[i], cjson.encode(fact))
			end
			""", String.class);

	private final StringRedisTemplate redis;

	private final String item;

	GateKeys(StringRedisTemplate redis, String item) {
		this.redis = redis;
		this.item = item;
	}

	String item() {
		return this.item;
	}

	String shelves() {
		return names().get(0);
	}

	String tickets() {
		return names().get(1);
	}

	String owners() {
		return names().get(2);
	}

	List<String> names() {
		return StockGate.keys(this.item);
	}

	Map<Object, Object> fields() {
		return this.redis.opsForHash().entries(shelves());
	}

	/**
	 * Returns all that Redis has under the keys.
	 */
	List<Object> contents() {
		return names().stream().<Object>map(this::content).toList();
	}

	private Object content(String key) {
		return switch (this.redis.type(key)) {
			case NONE -> "";
			case HASH -> this.redis.opsForHash().entries(key);
			case ZSET -> Objects.requireNonNull(this.redis.opsForZSet().rangeWithScores(key, 0, -1));
			default -> Objects.requireNonNull(this.redis.opsForValue().get(key));
		};
	}

	/**
	 * Returns a copy, which {@link #restore} writes back.
	 */
	Map<String, byte[]> dump() {
		Map<String, byte[]> copy = new HashMap<>();
		names().stream().filter(this.redis::hasKey).forEach((key) -> copy.put(key, this.redis.dump(key)));
		return copy;
	}

	void restore(Map<String, byte[]> copy) {
		wipe();
		copy.forEach((key, value) -> this.redis.restore(key, value, Expiration.persistent(), true));
	}

	void wipe() {
		this.redis.delete(names());
	}

	/**
	 * Lets a minute pass.
	 */
	void age() {
		this.redis.execute(AGE, names());
	}

}
