package dev.idempotent.sample.chaos;

import java.util.Objects;

import dev.idempotent.sample.servers.RedisServer;
import org.jspecify.annotations.Nullable;

/**
 * What a client requests of the embedded Redis.
 *
 * @param action {@code cut}, {@code restore} or {@code wipe}
 */
record RedisChaos(@Nullable String action) {

	/**
	 * Applies the action.
	 * @throws RedisChaosException if it is none of the three
	 */
	void applyTo(RedisServer redis) {
		switch (Objects.requireNonNullElse(this.action, "")) {
			case "cut" -> redis.cut();
			case "restore" -> redis.restore();
			case "wipe" -> redis.wipe();
			default -> throw RedisChaosException.invalidAction();
		}
	}

}
