package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.ApplicationRedis;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import dev.idempotent.idempotency.redis.RedisDeploymentHash;
import dev.idempotent.idempotency.redis.RedisIdempotencyStore;
import dev.idempotent.redis.ErrorReply;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Stores idempotency keys in the application's Redis, unless the application declares its
 * own store.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ RedisConnectionFactory.class, DataRedisConnectionDetails.class })
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnProperty(name = "idempotent.store", havingValue = "redis", matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.Redis.class)
class RedisStoreConfiguration {

	@Bean
	IdempotencyRedisConnection idempotencyRedisConnection(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details, IdempotencyProperties.Redis properties) {
		LettuceConnectionFactory lettuce = ApplicationRedis.lettuce(application, details);
		if (properties.waitsForReplicas()) {
			return IdempotencyRedisConnection.confirmed(requireOneMaster(lettuce), properties.timeout(),
					properties.waitReplicas(), properties.waitTimeout());
		}
		return (lettuce != null) ? IdempotencyRedisConnection.withTimeout(lettuce, properties.timeout())
				: IdempotencyRedisConnection.shared(application);
	}

	@Bean
	@Lazy(false)
	IdempotencyRedisLifecycle idempotencyRedisLifecycle(IdempotencyRedisConnection connection,
			IdempotencyProperties.Redis properties) {
		return new IdempotencyRedisLifecycle(connection, properties.timeout());
	}

	@Bean
	IdempotencyStore redisIdempotencyStore(IdempotencyRedisConnection connection,
			IdempotencyProperties.Redis properties) {
		return new RedisIdempotencyStore(connection, properties.keyPrefix());
	}

	@Bean
	@Order(1)
	DeploymentFacts idempotencyDeploymentHash(IdempotencyRedisConnection connection,
			IdempotencyProperties.Redis properties) {
		RedisDeploymentHash hash = new RedisDeploymentHash(connection, properties.keyPrefix());
		return new DeploymentFacts(hash::read, hash::add, hash::replace,
				(failure) -> ErrorReply.codeOf(failure) != null,
				"Permit the commands EVAL, EVALSHA, HGET, HGETALL and HSET on the hash " + hash.name());
	}

	private static LettuceConnectionFactory requireOneMaster(@Nullable LettuceConnectionFactory lettuce) {
		if (lettuce != null && !lettuce.isClusterAware()) {
			return lettuce;
		}
		throw new IdempotentConfigurationException(
				"idempotent.redis.wait-replicas needs Lettuce and a standalone or Sentinel Redis; this application "
						+ "has another client, a cluster, or static master and replica nodes.",
				"Omit idempotent.redis.wait-replicas, or point spring.data.redis.* at one master.");
	}

	/**
	 * Connects to Redis before the web server and listener containers start, so that the
	 * first request does not get 503 while the connection is opened.
	 */
	static final class IdempotencyRedisLifecycle implements SmartLifecycle {

		/**
		 * Starts after the application's connection factory, which may be used itself.
		 */
		private static final int PHASE = 1;

		private final IdempotencyRedisConnection connection;

		private final Duration timeout;

		private volatile boolean running;

		IdempotencyRedisLifecycle(IdempotencyRedisConnection connection, Duration timeout) {
			this.connection = connection;
			this.timeout = timeout;
		}

		@Override
		public void start() {
			this.connection.warmUp(this.timeout);
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return PHASE;
		}

	}

}
