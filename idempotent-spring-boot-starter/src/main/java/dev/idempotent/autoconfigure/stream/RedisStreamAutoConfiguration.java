package dev.idempotent.autoconfigure.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.LateListeners;
import dev.idempotent.autoconfigure.ApplicationRedis;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.stream.PayloadConverter;
import dev.idempotent.stream.RedeliveryPolicy;
import dev.idempotent.stream.RedisStreamListener;
import dev.idempotent.stream.RedisStreamListenerContainer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
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
import org.springframework.context.annotation.Role;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.transaction.CannotCreateTransactionException;
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
final class RedisStreamAutoConfiguration {

	/**
	 * Applies to commands that do not block.
	 */
	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LateListeners redisStreamLateListeners(ConfigurableListableBeanFactory beans) {
		return new LateListeners(beans, RedisStreamListener.class);
	}

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
							+ "idempotent.stream.enabled=false and read the stream by other means.");
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

	/**
	 * Combines the redelivery policies of an application. Unless one of them says
	 * otherwise, entries are redelivered whose failure is temporary and not their own:
	 * their key is pending elsewhere, or a store or database is unreachable.
	 *
	 * @param known in the order in which they are consulted; the first delay is used
	 */
	private record RedeliveryPolicies(List<RedeliveryPolicy> known) implements RedeliveryPolicy {

		private static final Duration WHILE_UNAVAILABLE = Duration.ofSeconds(5);

		@Override
		public @Nullable Duration redeliveryDelay(Throwable failure) {
			return this.known.stream()
				.map((each) -> each.redeliveryDelay(failure))
				.filter(Objects::nonNull)
				.findFirst()
				.orElseGet(() -> unavailability(failure));
		}

		private static @Nullable Duration unavailability(Throwable failure) {
			if (failure instanceof IdempotencyPendingException pending) {
				return pending.getRetryAfter();
			}
			if (failure instanceof IdempotencyMismatchException mismatch && mismatch.getRetryAfter() != null) {
				return mismatch.getRetryAfter();
			}
			boolean unavailable = failure instanceof IdempotencyStoreUnavailableException
					|| failure instanceof DataAccessResourceFailureException
					|| failure instanceof CannotCreateTransactionException;
			return unavailable ? WHILE_UNAVAILABLE : null;
		}

		/**
		 * A key whose other operation is done never becomes valid for this one.
		 */
		@Override
		public boolean isFatal(Throwable failure) {
			return (failure instanceof IdempotencyMismatchException mismatch && mismatch.getRetryAfter() == null)
					|| this.known.stream().anyMatch((each) -> each.isFatal(failure));
		}

	}

}
