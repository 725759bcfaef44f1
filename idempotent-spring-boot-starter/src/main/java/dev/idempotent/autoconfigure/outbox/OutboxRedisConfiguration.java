package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.autoconfigure.ApplicationRedis;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.lettuce.DedicatedRedisConnections;
import dev.idempotent.outbox.redis.RedisStreamPublisher;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Publishes events to streams of the application's Redis. Connects with the first event.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ RedisConnectionFactory.class, DataRedisConnectionDetails.class })
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
@EnableConfigurationProperties(OutboxRedisProperties.class)
class OutboxRedisConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RedisStreamPublisher redisStreamPublisher(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details, OutboxRedisProperties properties) {
		LettuceConnectionFactory lettuce = ApplicationRedis.lettuce(application, details);
		if (properties.waitReplicas() > 0 && (lettuce == null || lettuce.isClusterAware())) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.redis.wait-replicas needs Lettuce and a standalone or Sentinel Redis; this "
							+ "application has another client, a cluster, or static master and replica nodes.",
					"Omit idempotent.outbox.redis.wait-replicas, or point spring.data.redis.* at one master.", null);
		}
		return (lettuce != null)
				? RedisStreamPublisher.pipelined(DedicatedRedisConnections.to(lettuce, properties.timeout()),
						properties.maxLength(), properties.waitReplicas(), properties.waitTimeout())
				: RedisStreamPublisher.sequential(application, properties.maxLength());
	}

}
