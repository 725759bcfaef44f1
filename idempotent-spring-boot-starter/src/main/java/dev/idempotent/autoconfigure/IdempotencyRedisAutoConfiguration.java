package dev.idempotent.autoconfigure;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import dev.idempotent.idempotency.redis.RedisIdempotencyStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Keeps idempotency keys in the application's Redis, unless the application brings a
 * store of its own.
 */
@AutoConfiguration(after = DataRedisAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({ RedisConnectionFactory.class, DataRedisConnectionDetails.class })
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
@ConditionalOnMissingBean(IdempotencyStore.class)
@EnableConfigurationProperties(IdempotencyRedisProperties.class)
public final class IdempotencyRedisAutoConfiguration {

	@Bean
	IdempotencyRedisConnection idempotencyRedisConnection(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details, IdempotencyRedisProperties properties) {
		boolean masterReplica = details.stream().anyMatch((servers) -> servers.getMasterReplica() != null);
		return (application instanceof LettuceConnectionFactory lettuce && !masterReplica)
				? IdempotencyRedisConnection.withTimeout(lettuce, properties.timeout())
				: IdempotencyRedisConnection.shared(application);
	}

	@Bean
	RedisIdempotencyStore redisIdempotencyStore(IdempotencyRedisConnection connection,
			IdempotencyRedisProperties properties) {
		return new RedisIdempotencyStore(connection.factory(), properties.keyPrefix());
	}

}
