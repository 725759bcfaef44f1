package dev.idempotent.stream;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.awaitility.Awaitility.await;

/**
 * Tests for what a listener may take.
 */
class PayloadKindsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void includeBytesTextGenericJsonHeadersAndNone() {
		TestStream stream = new TestStream(redis.connect());
		stream.add(Map.of("farbe", "grün", "payload", "[{\"id\":\"ü\",\"amount\":7}]"));
		try (ConfigurableApplicationContext instance = StreamApplication.start(Kinds.class, redis, new Calls(),
				stream.property())) {
			Queue<String> taken = instance.getBean(Kinds.class).taken;
			await().until(() -> taken.size() == 5);
			await().until(() -> List.copyOf(taken)
				.containsAll(List.of("bytes [{\"id\":\"ü\",\"amount\":7}]", "text [{\"id\":\"ü\",\"amount\":7}]",
						"json ü", "headers {farbe=grün}", "nothing")));
		}
	}

	static class Kinds {

		final Queue<String> taken = new ConcurrentLinkedQueue<>();

		@RedisStreamListener(stream = "${test.stream}", group = "bytes")
		void bytes(byte[] payload) {
			this.taken.add("bytes " + new String(payload, StandardCharsets.UTF_8));
		}

		@RedisStreamListener(stream = "${test.stream}", group = "text")
		void text(Map<String, String> headers, String payload) {
			this.taken.add("text " + payload);
		}

		@RedisStreamListener(stream = "${test.stream}", group = "json", concurrency = 2)
		void json(List<Order> payload) {
			this.taken.add("json " + payload.get(0).id());
		}

		@RedisStreamListener(stream = "${test.stream}", group = "headers")
		void headers(Map<String, String> headers) {
			this.taken.add("headers " + headers);
		}

		@RedisStreamListener(stream = "${test.stream}", group = "nothing")
		void nothing() {
			this.taken.add("nothing");
		}

	}

}
