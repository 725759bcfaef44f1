package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import dev.idempotent.idempotency.redis.RedisIdempotencyStore;
import dev.idempotent.lettuce.DedicatedClientSettings;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps idempotency keys in the application's Redis, unless the application brings a
 * store of its own.
 */
@AutoConfiguration(after = DataRedisAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnClass({ RedisConnectionFactory.class, DataRedisConnectionDetails.class })
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnProperty(name = "idempotent.store", havingValue = "redis", matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyRedisProperties.class)
public final class IdempotencyRedisAutoConfiguration {

	@Bean
	IdempotencyRedisConnection idempotencyRedisConnection(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details, IdempotencyRedisProperties properties) {
		boolean masterReplica = details.stream().anyMatch((servers) -> servers.getMasterReplica() != null);
		return connect(application, masterReplica, properties);
	}

	@Bean
	@Lazy(false)
	IdempotencyRedisLifecycle idempotencyRedisLifecycle(IdempotencyRedisConnection connection,
			IdempotencyRedisProperties properties) {
		return new IdempotencyRedisLifecycle(connection, properties.timeout());
	}

	@Bean
	IdempotencyStore redisIdempotencyStore(IdempotencyRedisConnection connection,
			IdempotencyRedisProperties properties) {
		return properties.waitsForReplicas()
				? new RedisIdempotencyStore(connection, properties.keyPrefix(), properties.waitReplicas(),
						properties.waitTimeout())
				: new RedisIdempotencyStore(connection.factory(), properties.keyPrefix());
	}

	private static IdempotencyRedisConnection connect(RedisConnectionFactory application, boolean masterReplica,
			IdempotencyRedisProperties properties) {
		if (properties.waitsForReplicas()) {
			return IdempotencyRedisConnection.exclusive(requireOneMaster(application, masterReplica),
					properties.timeout());
		}
		return (application instanceof LettuceConnectionFactory lettuce && !masterReplica
				&& DedicatedClientSettings.hasKnownServers(lettuce))
						? IdempotencyRedisConnection.withTimeout(lettuce, properties.timeout())
						: IdempotencyRedisConnection.shared(application);
	}

	private static LettuceConnectionFactory requireOneMaster(RedisConnectionFactory application,
			boolean masterReplica) {
		if (application instanceof LettuceConnectionFactory lettuce && !lettuce.isClusterAware() && !masterReplica
				&& DedicatedClientSettings.hasKnownServers(lettuce)) {
			return lettuce;
		}
		throw new IdempotentConfigurationException(
				"idempotent.redis.wait-replicas needs Lettuce and a standalone or Sentinel Redis; this application "
						+ "has another client, a Cluster, or static master and replica nodes.",
				"Leave idempotent.redis.wait-replicas out, or point spring.data.redis.* at one master.", null);
	}

}
