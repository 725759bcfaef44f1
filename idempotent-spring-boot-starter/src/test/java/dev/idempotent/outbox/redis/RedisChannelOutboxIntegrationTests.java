package dev.idempotent.outbox.redis;

import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.testing.RealRedis;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Events that an application appends for a Redis channel.
 */
class RedisChannelOutboxIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void deliversCommittedEventsAndCountsThoseWithoutAReceiver() {
		try (ConfigurableApplicationContext shop = OutboxApplication.start(redis.properties(), Redis.class);
				Subscriber subscriber = new Subscriber(redis.connect(), "outbox-orders")) {
			append(shop, "redis-channel:outbox-orders");
			append(shop, "redis-channel:outbox-nobody");
			await().until(() -> subscriber.payloads().equals(Streams.numbers(1)));
			MeterRegistry meters = shop.getBean(MeterRegistry.class);
			await().untilAsserted(
					() -> assertThat(meters.get("outbox.delivered").tag("publisher", "redis-channel").counter().count())
						.isEqualTo(2));
			assertThat(meters.get("outbox.unreceived").tag("publisher", "redis-channel").counter().count()).isOne();
		}
	}

	private static void append(ConfigurableApplicationContext shop, String topic) {
		new TransactionTemplate(shop.getBean(PlatformTransactionManager.class)).executeWithoutResult(
				(status) -> shop.getBean(Outbox.class).append(OutboxEvent.of("order.created", 0).toTopic(topic)));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DataRedisAutoConfiguration.class)
	@ImportOperations
	static class Redis {

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

	}

}
