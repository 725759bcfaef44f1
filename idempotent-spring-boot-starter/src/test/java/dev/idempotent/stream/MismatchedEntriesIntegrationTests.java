package dev.idempotent.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.redis.RedisStreamPublisher;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Entries whose key belongs to a call that reads them differently, such as one of the
 * last release.
 */
class MismatchedEntriesIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final TestStream stream = new TestStream(redis.connect());

	private final String id = UUID.randomUUID().toString();

	private final Calls calls = new Calls();

	@Test
	void areProcessedOnceTheClaimOfAProcessThatDiedHasEnded() {
		try (ConfigurableApplicationContext instance = start(Shipments.class)) {
			IdempotencyStore store = instance.getBean(IdempotencyStore.class);
			IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "inbox", "", "ship",
					'"' + this.id + '"');
			Fingerprint other = Fingerprint.of(List.of(new byte[] { 1 }));
			store.claim(key, other, "dead", Duration.ofSeconds(2));
			publish();
			await().until(() -> this.calls.count(this.id) == 1 && this.stream.pending() == 0);
			assertThat(this.stream.dead()).isEmpty();
			assertThat(store.claim(key, other, "reader", Duration.ofSeconds(1))).isEqualTo(new Claim.Mismatched(null));
		}
	}

	/**
	 * The payload has a member that only the next release reads.
	 */
	@Test
	void areTheSameWhateverTheNextReleaseReads() {
		for (Class<?> release : List.of(Shipments.class, ShipmentsOfNextRelease.class)) {
			try (ConfigurableApplicationContext instance = start(release)) {
				// The listener creates the stream and its group when it has connected.
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
		SerializedEvent event = new SerializedEvent(UUID.randomUUID(), 1, "redis-stream:" + this.stream.name(), null,
				"order.created", payload.getBytes(StandardCharsets.UTF_8), Map.of(), 1);
		try (RedisStreamPublisher publisher = new RedisStreamPublisher(
				DedicatedRedisConnections.to(redis.connect(), Duration.ofMinutes(1)), null, 0, Duration.ofSeconds(1))) {
			assertThat(publisher.publish(List.of(event))).containsOnly(new Outcome.Delivered());
		}
	}

	private ConfigurableApplicationContext start(Class<?> listeners) {
		return StreamApplication.start(listeners, redis, this.calls, this.stream.property(),
				"idempotent.namespace=inbox", "idempotent.redis.key-prefix=" + this.stream.name() + ":",
				"spring.application.name=inbox");
	}

	@ImportMethods
	static class Shipments {

		private final StreamApplication.Script script;

		Shipments(StreamApplication.Script script) {
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
