package dev.idempotent.autoconfigure.stream;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.ApplicationRedis;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.stream.PayloadConverter;
import dev.idempotent.stream.RedeliveryPolicy;
import dev.idempotent.stream.RedisStreamListenerContainer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Auto-configuration for {@code @RedisStreamListener} methods.
 */
@AutoConfiguration(after = DataRedisAutoConfiguration.class,
		afterName = "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration")
@ConditionalOnBooleanProperty(name = "idempotent.stream.enabled", matchIfMissing = true)
@ConditionalOnClass({ RedisConnectionFactory.class, DataRedisConnectionDetails.class })
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
@EnableConfigurationProperties(StreamProperties.class)
public final class RedisStreamAutoConfiguration {

	/**
	 * Applies to commands that do not block.
	 */
	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/**
	 * Not lazy, because no other bean depends on it.
	 */
	@Bean
	@Lazy(false)
	RedisStreamListenerContainer redisStreamListenerContainer(ConfigurableListableBeanFactory beans,
			RedisConnectionFactory application, ObjectProvider<DataRedisConnectionDetails> details,
			StreamProperties properties, ObjectProvider<RedeliveryPolicy> policies,
			ObjectProvider<PayloadConverter> converter) {
		return new RedisStreamListenerContainer(beans, () -> connections(application, details),
				properties.minIdleTime(), properties.maxDeliveries(),
				new RedeliveryPolicies(policies.orderedStream().toList()), converter.getIfAvailable());
	}

	private static DedicatedRedisConnections connections(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details) {
		LettuceConnectionFactory lettuce = ApplicationRedis.lettuce(application, details);
		if (lettuce == null) {
			throw new IdempotentConfigurationException(
					"@RedisStreamListener needs Lettuce and a standalone, Sentinel or Cluster Redis; this application "
							+ "has another client, static master and replica nodes, or a factory that does not "
							+ "reveal its servers.",
					"Let Spring Boot make the connection factory from spring.data.redis.*, or set "
							+ "idempotent.stream.enabled=false and read the stream by other means.",
					null);
		}
		return DedicatedRedisConnections.to(lettuce, TIMEOUT);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(JsonMapper.class)
	static class JsonConfiguration {

		@Bean
		@ConditionalOnMissingBean(PayloadConverter.class)
		PayloadConverter streamJsonPayloads(ObjectProvider<JsonMapper> mappers) {
			JsonMapper mapper = mappers.getIfUnique(JsonMapper::shared);
			return (payload, type) -> mapper.readValue(payload, mapper.constructType(type));
		}

	}

}
