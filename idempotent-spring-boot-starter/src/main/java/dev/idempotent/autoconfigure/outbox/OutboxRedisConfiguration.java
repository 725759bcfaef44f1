package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.ApplicationRedis;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.redis.RedisChannelPublisher;
import dev.idempotent.outbox.redis.RedisStreamPublisher;
import dev.idempotent.redis.DedicatedRedisConnections;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Publishes events to streams and channels of the application's Redis. Connects with the
 * first event.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ RedisConnectionFactory.class, DataRedisConnectionDetails.class })
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
class OutboxRedisConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RedisStreamPublisher redisStreamPublisher(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details, OutboxProperties outbox) {
		OutboxProperties.Redis properties = outbox.redis();
		LettuceConnectionFactory lettuce = ApplicationRedis.lettuce(application, details);
		if (properties.waitReplicas() > 0 && (lettuce == null || lettuce.isClusterAware())) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.redis.wait-replicas needs Lettuce and a standalone or Sentinel Redis; this "
							+ "application has another client, a cluster, or static master and replica nodes.",
					"Omit idempotent.outbox.redis.wait-replicas, or point spring.data.redis.* at one master.");
		}
		return (lettuce != null)
				? new RedisStreamPublisher(DedicatedRedisConnections.to(lettuce, properties.timeout()),
						properties.maxLength(), properties.waitReplicas(), properties.waitTimeout())
				: new RedisStreamPublisher(application, properties.maxLength());
	}

	/**
	 * Finds the observers with the first event without a receiver, because they may
	 * depend on the publishers.
	 */
	@Bean
	@ConditionalOnMissingBean
	RedisChannelPublisher redisChannelPublisher(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details, OutboxProperties outbox,
			ObjectProvider<OutboxObserver> observers) {
		SingletonSupplier<OutboxObserver> all = SingletonSupplier.of(() -> OutboxAutoConfiguration.all(observers));
		Runnable unreceived = () -> all.obtain().unreceived(RedisChannelPublisher.PREFIX);
		LettuceConnectionFactory lettuce = ApplicationRedis.lettuce(application, details);
		return (lettuce != null)
				? new RedisChannelPublisher(DedicatedRedisConnections.to(lettuce, outbox.redis().timeout()), unreceived)
				: new RedisChannelPublisher(application, unreceived);
	}

}
