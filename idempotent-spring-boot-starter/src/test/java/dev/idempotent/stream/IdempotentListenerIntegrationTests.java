package dev.idempotent.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.kafka.Ledger;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.redis.RedisStreamPublisher;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Events of the outbox processed once by an idempotent listener, on real servers.
 */
class IdempotentListenerIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final TestStream stream = new TestStream(redis.connect());

	@Test
	void hasOneEffectHoweverOftenAnEventIsPublishedAndDelivered() {
		String id = UUID.randomUUID().toString();
		AtomicInteger inTransaction = new AtomicInteger();
		Calls calls = new Calls((order, headers) -> {
			if (TransactionSynchronizationManager.isActualTransactionActive() && inTransaction.incrementAndGet() == 1) {
				throw new IllegalStateException("after its work");
			}
		});
		try (ConfigurableApplicationContext instance = start(calls)) {
			SerializedEvent event = event(UUID.randomUUID(), id, 1);
			publish(event, event, event);
			await().until(() -> calls.count(id) >= 2 && this.stream.pending() == 0);
			// One call that failed after its work, and one that succeeded.
			assertThat(calls.count(id)).isEqualTo(2);
			assertThat(inTransaction).hasValue(2);
			assertThat(instance.getBean(Ledger.class).count(id)).isOne();
			assertThat(this.stream.dead()).isEmpty();
		}
	}

	@Test
	void givesUpAtOnceAnEntryThatReusesAnId() {
		String id = UUID.randomUUID().toString();
		Calls calls = new Calls((order, headers) -> {
		});
		try (ConfigurableApplicationContext instance = start(calls)) {
			UUID event = UUID.randomUUID();
			publish(event(event, id, 1));
			await().until(() -> calls.count(id) == 1 && this.stream.pending() == 0);
			publish(event(event, id, 2));
			await().untilAsserted(() -> assertThat(this.stream.dead()).hasSize(1));
			assertThat(this.stream.dead().get(0)).containsEntry("dead_deliveries", "1");
			assertThat(instance.getBean(Ledger.class).count(id)).isOne();
		}
	}

	private SerializedEvent event(UUID event, String order, int amount) {
		String payload = "{\"id\":\"" + order + "\",\"amount\":" + amount + "}";
		return new SerializedEvent(event, 1, "redis-stream:" + this.stream.name(), null, "order.created",
				payload.getBytes(StandardCharsets.UTF_8), Map.of(), 1);
	}

	private static void publish(SerializedEvent... events) {
		try (RedisStreamPublisher publisher = new RedisStreamPublisher(
				DedicatedRedisConnections.to(redis.connect(), Duration.ofMinutes(1)), null, 0, Duration.ofSeconds(1))) {
			assertThat(publisher.publish(List.of(events))).containsOnly(new Outcome.Delivered());
		}
	}

	private ConfigurableApplicationContext start(Calls calls) {
		String[] properties = Stream
			.concat(postgres.properties().stream(), Stream.of(this.stream.property(), "idempotent.namespace=inbox",
					"idempotent.jdbc.initialize-schema=always"))
			.toArray(String[]::new);
		return StreamApplication.start(ShipmentApplication.class, redis, calls, properties);
	}

	/**
	 * Entries whose key belongs to a call that reads them differently, such as one of the
	 * last release.
	 */
	@Nested
	class MismatchedEntries {

		private final TestStream stream = new TestStream(redis.connect());

		private final String id = UUID.randomUUID().toString();

		private final Calls calls = new Calls();

		@Test
		void areProcessedOnceTheClaimOfAProcessThatDiedHasEnded() {
			try (ConfigurableApplicationContext instance = start(ShipmentsOfThisRelease.class)) {
				IdempotencyStore store = instance.getBean(IdempotencyStore.class);
				IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "inbox", "", "ship",
						'"' + this.id + '"');
				Fingerprint other = Fingerprint.of(List.of(new byte[] { 1 }));
				store.claim(key, other, "dead", Duration.ofSeconds(2));
				publish();
				await().until(() -> this.calls.count(this.id) == 1 && this.stream.pending() == 0);
				assertThat(this.stream.dead()).isEmpty();
				assertThat(store.claim(key, other, "reader", Duration.ofSeconds(1)))
					.isEqualTo(new Claim.Mismatched(null));
			}
		}

		/**
		 * The payload has a member that only the next release reads.
		 */
		@Test
		void areTheSameWhateverTheNextReleaseReads() {
			for (Class<?> release : List.of(ShipmentsOfThisRelease.class, ShipmentsOfNextRelease.class)) {
				try (ConfigurableApplicationContext instance = start(release)) {
					// The listener creates the stream and its group when it has
					// connected.
					long before = await().ignoreExceptions().until(this.stream::delivered, (count) -> true);
					publish();
					await().until(() -> this.stream.delivered() > before && this.stream.pending() == 0);
					assertThat(this.calls.count(this.id)).isOne();
					assertThat(this.stream.dead()).isEmpty();
					assertThat(instance.isRunning()).isTrue();
				}
			}
		}

		private void publish() {
			String payload = "{\"id\":\"" + this.id + "\",\"amount\":1,\"gift\":true}";
			SerializedEvent event = new SerializedEvent(UUID.randomUUID(), 1, "redis-stream:" + this.stream.name(),
					null, "order.created", payload.getBytes(StandardCharsets.UTF_8), Map.of(), 1);
			try (RedisStreamPublisher publisher = new RedisStreamPublisher(
					DedicatedRedisConnections.to(redis.connect(), Duration.ofMinutes(1)), null, 0,
					Duration.ofSeconds(1))) {
				assertThat(publisher.publish(List.of(event))).containsOnly(new Outcome.Delivered());
			}
		}

		private ConfigurableApplicationContext start(Class<?> listeners) {
			return StreamApplication.start(listeners, redis, this.calls, this.stream.property(),
					"idempotent.namespace=inbox", "idempotent.redis.key-prefix=" + this.stream.name() + ":",
					"spring.application.name=inbox");
		}

		@ImportMethods
		static class ShipmentsOfThisRelease {

			private final StreamApplication.Script script;

			ShipmentsOfThisRelease(StreamApplication.Script script) {
				this.script = script;
			}

			@RedisStreamListener(stream = "${test.stream}", group = "notifications")
			@Idempotent(name = "ship", key = "#order.id")
			public void on(Order order) throws Exception {
				this.script.on(order, Map.of());
			}

		}

		@ImportMethods
		static class ShipmentsOfNextRelease {

			private final StreamApplication.Script script;

			ShipmentsOfNextRelease(StreamApplication.Script script) {
				this.script = script;
			}

			@RedisStreamListener(stream = "${test.stream}", group = "notifications")
			@Idempotent(name = "ship", key = "#changed.id")
			public void on(ChangedOrder changed) throws Exception {
				this.script.on(new Order(changed.id(), changed.amount()), Map.of());
			}

		}

		record ChangedOrder(String id, boolean gift, int amount) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class })
	@ImportMethods
	static class ShipmentApplication {

		@Bean
		Ledger ledger(DataSource dataSource) {
			return new Ledger(dataSource);
		}

		@Bean
		Shipments shipments(Ledger ledger, StreamApplication.Script script) {
			return new Shipments(ledger, script);
		}

	}

	static class Shipments {

		private final Ledger ledger;

		private final StreamApplication.Script script;

		Shipments(Ledger ledger, StreamApplication.Script script) {
			this.ledger = ledger;
			this.script = script;
		}

		@RedisStreamListener(stream = "${test.stream}", group = "notifications")
		@Idempotent(key = "#headers['ce_id']", ignore = "headers", guarantee = Guarantee.TRANSACTION,
				name = "shipments.on")
		@Transactional
		void on(Order order, Map<String, String> headers) throws Exception {
			this.ledger.add(order.id());
			this.script.on(order, headers);
		}

	}

}
