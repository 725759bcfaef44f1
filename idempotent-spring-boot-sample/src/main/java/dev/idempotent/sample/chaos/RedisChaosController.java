package dev.idempotent.sample.chaos;

import dev.idempotent.sample.servers.RedisServer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Cuts the embedded Redis off, restores it, and wipes it.
 */
@RestController
@RequestMapping("/api/chaos/redis")
class RedisChaosController {

	private final ChaosProperties properties;

	private final ObjectProvider<RedisServer> embedded;

	RedisChaosController(ChaosProperties properties, ObjectProvider<RedisServer> embedded) {
		this.properties = properties;
		this.embedded = embedded;
	}

	@GetMapping
	RedisState state() {
		return RedisState.of(redis());
	}

	@PostMapping
	RedisState apply(@RequestBody RedisChaos chaos) {
		RedisServer redis = redis();
		chaos.applyTo(redis);
		return RedisState.of(redis);
	}

	private RedisServer redis() {
		if (!this.properties.enabled()) {
			throw RedisChaosException.disabled();
		}
		RedisServer redis = this.embedded.getIfAvailable();
		if (redis == null) {
			throw RedisChaosException.notEmbedded();
		}
		return redis;
	}

	/**
	 * The state of the embedded Redis.
	 *
	 * @param available whether the shop can connect
	 * @param wipes how often the data was wiped
	 */
	record RedisState(boolean available, int wipes) {

		static RedisState of(RedisServer redis) {
			return new RedisState(redis.isAvailable(), redis.wipes());
		}

	}

}
