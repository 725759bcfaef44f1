package dev.idempotent.sample.servers;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Starts an embedded server for each that is not configured.
 */
@Configuration(proxyBeanMethods = false)
class EmbeddedServers {

	@Bean
	@Conditional(OnNoRedisConfigured.class)
	RedisServer redisServer(EmbeddedRedisProperties properties) {
		return RedisServer.start(properties.executable());
	}

	@Bean
	@Conditional(OnNoDatabaseConfigured.class)
	PostgresServer postgresServer() {
		return PostgresServer.start();
	}

	@Bean
	@Profile("kafka")
	@Conditional(OnNoKafkaConfigured.class)
	KafkaServer kafkaServer() {
		return KafkaServer.start();
	}

	static class OnNoRedisConfigured extends NoneNestedConditions {

		OnNoRedisConfigured() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnProperty("spring.data.redis.host")
		static class Host {

		}

		@ConditionalOnProperty("spring.data.redis.url")
		static class Url {

		}

		@ConditionalOnProperty("spring.data.redis.cluster.nodes")
		static class Cluster {

		}

		@ConditionalOnProperty("spring.data.redis.sentinel.master")
		static class Sentinel {

		}

	}

	static class OnNoDatabaseConfigured extends NoneNestedConditions {

		OnNoDatabaseConfigured() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnProperty("spring.datasource.url")
		static class Url {

		}

	}

	static class OnNoKafkaConfigured extends NoneNestedConditions {

		OnNoKafkaConfigured() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnProperty("spring.kafka.bootstrap-servers")
		static class Servers {

		}

	}

}
