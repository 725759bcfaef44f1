package dev.idempotent.stream;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RealRedisCluster;
import dev.idempotent.testing.RedisTopology;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.stream.RecordId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for entries that a listener cannot process.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeadEntriesIntegrationTests {

	private static final String TWO = "idempotent.stream.max-deliveries=2";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealRedisCluster cluster = new RealRedisCluster();

	private TestStream stream = new TestStream(redis.connect());

	private @Nullable ConfigurableApplicationContext instance;

	@AfterEach
	void stop() {
		if (this.instance != null) {
			this.instance.close();
		}
	}

	@Test
	void moveToTheDeadLetterStreamWithTheErrorAfterTheLastDelivery(CapturedOutput output) {
		RecordId id = this.stream.add("bad");
		Calls calls = start(redis, new Calls((order, headers) -> {
			throw new IllegalStateException("no such column");
		}), TWO);
		await().until(() -> this.stream.dead().size() == 1 && this.stream.pending() == 0);
		assertThat(calls.count("bad")).isEqualTo(2);
		assertThat(this.stream.dead().get(0)).containsExactlyInAnyOrderEntriesOf(Map.of("ce_id", "bad", "payload",
				"{\"id\":\"bad\",\"amount\":1}", "dead_error", "java.lang.IllegalStateException", "dead_stream",
				this.stream.name(), "dead_group", TestStream.GROUP, "dead_id", id.getValue(), "dead_deliveries", "2"));
		assertThat(output).contains("java.lang.IllegalStateException (delivery 1 of 2)")
			.contains(id.getValue())
			.containsOnlyOnce("java.lang.IllegalStateException: no such column")
			.contains("at dev.idempotent.stream.DeadEntriesIntegrationTests");
	}

	@Test
	void moveAtOnceIfTheirPayloadCannotBeRead(CapturedOutput output) {
		this.stream.add(Map.of("ce_id", "poison", "payload", "{\"secret\":"));
		this.stream.add(Map.of("ce_id", "none"));
		this.stream.add("next");
		Calls calls = start(redis, new Calls());
		await().until(() -> calls.count("next") == 1 && this.stream.pending() == 0);
		assertThat(calls.ids()).containsExactly("next");
		assertThat(this.stream.dead()).extracting((entry) -> entry.get("ce_id")).containsExactly("poison", "none");
		assertThat(this.stream.dead()).extracting((entry) -> entry.get("dead_deliveries")).containsOnly("1");
		assertThat(this.stream.dead().get(0).get("dead_error")).contains("jackson");
		assertThat(output).doesNotContain("secret");
	}

	@Test
	void moveWithMoreFieldsThanAScriptAccepts() {
		Map<String, String> fields = new HashMap<>(Map.of("ce_id", "wide"));
		IntStream.range(0, 5_000).forEach((i) -> fields.put("field-" + i, "value"));
		this.stream.add(fields);
		start(redis, new Calls());
		await().until(() -> this.stream.dead().size() == 1 && this.stream.pending() == 0);
		assertThat(this.stream.dead().get(0)).containsAllEntriesOf(fields).containsKey("dead_error");
	}

	@Test
	void moveWithoutACallIfTheyCrashedTheirProcessesTooOften() {
		RecordId id = this.stream.add("fatal");
		this.stream.readAndDie();
		this.stream.countDeliveries(id, 2);
		Calls calls = start(redis, new Calls(), TWO);
		await().until(() -> this.stream.dead().size() == 1 && this.stream.pending() == 0);
		assertThat(calls.ids()).isEmpty();
		assertThat(this.stream.dead().get(0).get("dead_error")).startsWith("none");
	}

	@Test
	void areNotThoseThatAreRedeliveredWithoutCounting() {
		AtomicInteger attempts = new AtomicInteger();
		Calls calls = start(redis, new Calls((order, headers) -> {
			int attempt = attempts.incrementAndGet();
			if (attempt <= 2) {
				throw new IdempotencyPendingException(Samples.key(), Duration.ofMillis(50));
			}
			if (attempt <= 4) {
				throw new DataAccessResourceFailureException("away");
			}
		}), TWO);
		this.stream.add("busy");
		await().until(() -> calls.count("busy") == 5 && this.stream.pending() == 0);
		assertThat(this.stream.dead()).isEmpty();
	}

	@Test
	void areLoggedAsLostIfTheyWereTrimmed(CapturedOutput output) {
		RecordId id = this.stream.add("trimmed");
		this.stream.add("kept");
		this.stream.readAndDie();
		this.stream.delete(id);
		Calls calls = start(redis, new Calls());
		await().until(() -> calls.count("kept") == 1 && this.stream.pending() == 0);
		assertThat(output).containsOnlyOnce("Entry " + id.getValue())
			.containsOnlyOnce("was trimmed from the stream before it was processed and is lost");
		assertThat(this.stream.dead()).isEmpty();
	}

	@Test
	void moveToTheDeadLetterStreamInACluster() {
		this.stream = new TestStream(cluster.client());
		this.stream.add("bad");
		this.stream.add("good");
		Calls calls = start(cluster, new Calls((order, headers) -> {
			if (order.id().equals("bad")) {
				throw new IllegalStateException();
			}
		}), TWO);
		await().until(() -> this.stream.dead().size() == 1 && this.stream.pending() == 0);
		assertThat(calls.count("bad")).isEqualTo(2);
		assertThat(calls.count("good")).isOne();
	}

	private Calls start(RedisTopology servers, Calls calls, String... properties) {
		String[] all = Stream.concat(Stream.of(this.stream.property()), Stream.of(properties)).toArray(String[]::new);
		this.instance = StreamApplication.start(OrderListener.class, servers, calls, all);
		return calls;
	}

}
