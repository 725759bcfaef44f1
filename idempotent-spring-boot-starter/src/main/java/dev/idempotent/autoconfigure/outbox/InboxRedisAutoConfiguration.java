package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.inbox.InboxConfigurationException;
import dev.idempotent.inbox.JsonPayloads;
import dev.idempotent.inbox.PayloadConversion;
import dev.idempotent.inbox.Postponement;
import dev.idempotent.inbox.RedisStreamInbox;
import dev.idempotent.lettuce.OwnConnections;
import tools.jackson.databind.json.JsonMapper;

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

/**
 * Gives {@code @RedisStreamListener} its effect.
 */
@AutoConfiguration(after = DataRedisAutoConfiguration.class,
		afterName = "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration")
@ConditionalOnBooleanProperty(name = "idempotent.inbox.enabled", matchIfMissing = true)
@ConditionalOnClass({ RedisConnectionFactory.class, DataRedisConnectionDetails.class })
@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
@EnableConfigurationProperties(InboxProperties.class)
public final class InboxRedisAutoConfiguration {

	/**
	 * How long Redis may take to reply to what does not block.
	 */
	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/**
	 * Nobody asks for it, in an application whose beans are lazy.
	 */
	@Bean
	@Lazy(false)
	RedisStreamInbox redisStreamInbox(ConfigurableListableBeanFactory beans, RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details, InboxProperties properties,
			ObjectProvider<Postponement> postponements, ObjectProvider<PayloadConversion> conversion) {
		List<Postponement> known = Stream.concat(postponements.orderedStream(), Stream.of(new ForeignFault())).toList();
		return new RedisStreamInbox(beans, () -> connections(application, details), properties.settings(),
				new Postponements(known), conversion.getIfAvailable());
	}

	private static OwnConnections connections(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details) {
		LettuceConnectionFactory lettuce = ApplicationRedis.lettuce(application, details);
		if (lettuce == null) {
			throw new InboxConfigurationException(
					"@RedisStreamListener needs Lettuce and a standalone, Sentinel or Cluster Redis; this application "
							+ "has another client, static master and replica nodes, or a factory that does not say "
							+ "where it goes.",
					"Let Spring Boot make the connection factory from spring.data.redis.*, or set "
							+ "idempotent.inbox.enabled=false and read the stream by other means.",
					null);
		}
		return OwnConnections.to(lettuce, TIMEOUT);
	}

	/**
	 * Apart, for applications without Jackson.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(JsonMapper.class)
	static class JsonConfiguration {

		@Bean
		@ConditionalOnMissingBean(PayloadConversion.class)
		JsonPayloads inboxJsonPayloads(ObjectProvider<JsonMapper> mappers) {
			return new JsonPayloads(mappers.getIfUnique(JsonMapper::shared));
		}

	}

}
