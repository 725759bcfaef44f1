package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.test.OutboxPublisherContract;
import dev.idempotent.testing.RealRedis;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisChannelPublisher}.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisChannelPublisherIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final LettuceConnectionFactory application = redis.connect();

	private final AtomicInteger unreceived = new AtomicInteger();

	private final RedisChannelPublisher publisher = new RedisChannelPublisher(
			DedicatedRedisConnections.to(this.application, TIMEOUT), this.unreceived::incrementAndGet);

	@AfterEach
	void close() {
		this.publisher.close();
	}

	@Test
	void keepsTheOrderOfABatch() {
		try (Subscriber subscriber = new Subscriber(this.application, "orders")) {
			assertThat(this.publisher.publish(Events.numberedToChannel("orders", 500))).hasSize(500)
				.containsOnly(DELIVERED);
			await().until(() -> subscriber.messages().size() == 500);
			assertThat(subscriber.payloads()).isEqualTo(Streams.numbers(500));
		}
		assertThat(this.unreceived).hasValue(0);
	}

	@Test
	void publishesCloudEventsInJson() {
		SerializedEvent event = Events.toChannel("orders", "{\"id\":\"ü\"}".getBytes(StandardCharsets.UTF_8),
				Map.of("content-type", "application/json"));
		try (Subscriber subscriber = new Subscriber(this.application, "orders")) {
			this.publisher.publish(List.of(event));
			await().untilAsserted(() -> assertThat(subscriber.messages())
				.containsExactly(new String(CloudEventJson.write(event), StandardCharsets.UTF_8)));
		}
	}

	@Test
	void countsEventsWithoutAReceiverAndWarnsOnce(CapturedOutput output) {
		List<SerializedEvent> events = new ArrayList<>(Events.numberedToChannel("nobody", 3));
		events.addAll(Events.numberedToChannel("orders", 1));
		try (Subscriber subscriber = new Subscriber(this.application, "orders")) {
			assertThat(this.publisher.publish(events)).hasSize(4).containsOnly(DELIVERED);
			assertThat(this.publisher.publish(events)).hasSize(4).containsOnly(DELIVERED);
			assertThat(this.unreceived).hasValue(6);
			await().until(() -> subscriber.messages().size() == 2);
		}
		assertThat(output).containsOnlyOnce("An event was published with no receiver, the latest to "
				+ "redis-channel:nobody. Redis keeps nothing");
	}

	@Test
	void publishesSequentiallyWithAnyClient() {
		try (RedisChannelPublisher plain = new RedisChannelPublisher(this.application,
				this.unreceived::incrementAndGet); Subscriber subscriber = new Subscriber(this.application, "orders")) {
			assertThat(plain.publish(Events.numberedToChannel("orders", 2))).containsOnly(DELIVERED);
			assertThat(plain.publish(Events.numberedToChannel("nobody", 2))).containsOnly(DELIVERED);
			await().until(() -> subscriber.messages().size() == 2);
			assertThat(subscriber.payloads()).isEqualTo(Streams.numbers(2));
		}
		assertThat(this.unreceived).hasValue(2);
	}

	@Test
	void isUnavailableWhileRedisIsStoppedAndRecoversWithIt() {
		assertThat(this.publisher.publish(Events.numberedToChannel("orders", 1))).containsOnly(DELIVERED);
		redis.stop();
		assertThat(this.publisher.publish(Events.numberedToChannel("orders", 3))).hasSize(3)
			.allSatisfy((outcome) -> assertThat(outcome).isInstanceOf(Outcome.Unavailable.class));
		redis.start();
		LettuceConnectionFactory again = redis.connect();
		try (Subscriber subscriber = new Subscriber(again, "orders")) {
			await()
				.until(() -> this.publisher.publish(Events.numberedToChannel("orders", 1)).equals(List.of(DELIVERED)));
			await().untilAsserted(() -> assertThat(subscriber.payloads()).containsExactly("0"));
		}
	}

	@Test
	void countsNoAttemptIfTheUserLacksPermissionForTheChannel() {
		redis.command("ACL SETUSER reader on >secret +@all resetchannels &allowed");
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(redis.host(), redis.port());
		server.setUsername("reader");
		server.setPassword("secret");
		LettuceConnectionFactory reader = new LettuceConnectionFactory(server);
		reader.afterPropertiesSet();
		List<SerializedEvent> events = new ArrayList<>(Events.numberedToChannel("forbidden", 1));
		events.addAll(Events.numberedToChannel("allowed", 1));
		try (RedisChannelPublisher restricted = new RedisChannelPublisher(DedicatedRedisConnections.to(reader, TIMEOUT),
				this.unreceived::incrementAndGet)) {
			assertThat(restricted.publish(events)).containsExactly(
					new Outcome.Unavailable("Redis currently rejects writes (NOPERM)", Scope.DESTINATION), DELIVERED);
		}
		finally {
			reader.destroy();
		}
	}

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

	/**
	 * The contract of publishers for {@link RedisChannelPublisher}, whose broker keeps
	 * nothing: each destination has a subscriber.
	 */
	@Nested
	class Contract extends OutboxPublisherContract {

		private final LettuceConnectionFactory application = redis.connect();

		private final RedisChannelPublisher publisher = to(this.application);

		private final Map<String, Subscriber> subscribers = new ConcurrentHashMap<>();

		@AfterEach
		void close() {
			this.subscribers.values().forEach(Subscriber::close);
			this.publisher.close();
		}

		@Override
		protected OutboxPublisher publisher() {
			return this.publisher;
		}

		@Override
		protected OutboxPublisher unreachablePublisher() {
			LettuceConnectionFactory nowhere = new LettuceConnectionFactory("127.0.0.1", 1);
			nowhere.afterPropertiesSet();
			return to(nowhere);
		}

		@Override
		protected String createDestination(String name) {
			this.subscribers.put(name, new Subscriber(this.application, name));
			return name;
		}

		@Override
		protected List<Message> received(String destination) {
			Subscriber subscriber = Objects.requireNonNull(this.subscribers.get(destination));
			return subscriber.messages().stream().map((message) -> {
				JsonNode event = JsonMapper.shared().readTree(message);
				return new Message(event.get("id").stringValue(), event.get("data").toString());
			}).toList();
		}

		private static RedisChannelPublisher to(LettuceConnectionFactory factory) {
			return new RedisChannelPublisher(DedicatedRedisConnections.to(factory, Duration.ofSeconds(30)), () -> {
			});
		}

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
