package dev.idempotent.stream;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.stream.StreamInspector.GroupBacklog;
import dev.idempotent.stream.StreamInspector.GroupDetails;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RealRedisCluster;
import dev.idempotent.testing.StallingProxy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link StreamInspector} on a real Redis.
 */
class StreamInspectorIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealRedisCluster cluster = new RealRedisCluster();

	@RegisterExtension
	static final StallingProxy network = StallingProxy.before(redis);

	private final CountDownLatch ready = new CountDownLatch(1);

	private final Calls calls = new Calls((order, headers) -> {
		if (order.id().equals("slow")) {
			this.ready.await();
		}
	});

	private TestStream stream;

	private ConfigurableApplicationContext instance;

	@BeforeEach
	void start() {
		redis.start();
		this.stream = new TestStream(redis.connect());
		this.instance = StreamApplication.start(OrderListener.class, network, this.calls, this.stream.property(),
				"idempotent.stream.min-idle-time=1h");
	}

	@AfterEach
	void stop() {
		this.ready.countDown();
		network.resume();
		this.instance.close();
	}

	@Test
	void countsPendingEntriesAndThoseNotDeliveredYet() {
		this.stream.add("slow");
		await().until(() -> this.calls.count("slow") == 1);
		this.stream.add("second");
		this.stream.add("third");
		assertThat(backlog().pending()).isEqualTo(1);
		assertThat(backlog().lag()).isEqualTo(hasLag() ? 2L : null);
		assertThat(backlog().consumers()).isEqualTo(1);
		this.ready.countDown();
		await().untilAsserted(() -> assertThat(backlog().pending()).isZero());
		assertThat(backlog().lag()).isEqualTo(hasLag() ? 0L : null);
	}

	@Test
	void knowsNoLagAfterAnUndeliveredEntryWasDeleted() {
		this.stream.add("slow");
		await().until(() -> this.calls.count("slow") == 1);
		RecordId deleted = this.stream.add("second");
		this.stream.add("third");
		this.stream.delete(deleted);
		assertThat(backlog().lag()).isNull();
		assertThat(backlog().pending()).isEqualTo(1);
	}

	@Test
	void findsTheGroupInAReplyOfRedis6() {
		List<Object> group = List.of("name", "notifications", "consumers", 2L, "pending", 3L, "last-delivered-id",
				"5-0");
		assertThat(GroupBacklog.of(List.of(group), "notifications")).isEqualTo(new GroupBacklog(3, null, 2, "5-0"));
		assertThat(GroupBacklog.of(List.of(group), "other")).isNull();
	}

	@Test
	void readsTheStreamsOfACluster() {
		TestStream spread = new TestStream(cluster.client());
		spread.add("first");
		try (ConfigurableApplicationContext other = StreamApplication.start(OrderListener.class, cluster, this.calls,
				spread.property())) {
			await().until(() -> this.calls.count("first") == 1 && spread.pending() == 0);
			StreamInspector inspector = inspector(other);
			assertThat(inspector.backlogs()).containsOnlyKeys(new ConsumerGroup(spread.name(), TestStream.GROUP));
			assertThat(inspector.details()).singleElement()
				.satisfies((details) -> assertThat(details.problem()).isNull())
				.satisfies((details) -> assertThat(details.length()).isEqualTo(1));
		}
	}

	@Test
	void reportsAKeyOfAnotherType() {
		await().until(() -> find() != null);
		StringRedisTemplate template = new StringRedisTemplate(redis.connect());
		template.delete(this.stream.name());
		template.opsForValue().set(this.stream.name(), "of another type");
		assertThat(find()).isNull();
		GroupDetails details = answered();
		assertThat(details.backlog()).isNull();
		assertThat(details.length()).isNull();
		assertThat(details.consumers()).isEmpty();
		assertThat(details.deadLength()).isZero();
		assertThat(details.problem()).startsWith("WRONGTYPE");
	}

	@Test
	void reportsAGroupThatWasDeletedUntilAListenerCreatesItAgain() {
		this.stream.add("slow");
		await().until(() -> this.calls.count("slow") == 1);
		// The only worker is busy, so the group stays away.
		this.stream.destroyGroup();
		assertThat(find()).isNull();
		GroupDetails details = answered();
		assertThat(details.problem()).startsWith("NOGROUP");
		assertThat(details.length()).isEqualTo(1);
		this.ready.countDown();
		await().until(() -> find() != null && details().problem() == null);
	}

	@Test
	void listsAHundredOfTenThousandConsumers() {
		this.stream.add("slow");
		await().until(() -> this.calls.count("slow") == 1);
		new StringRedisTemplate(redis.connect()).execute(
				RedisScript
					.of("for i = 1, 10000 do redis.call('XGROUP', 'CREATECONSUMER', KEYS[1], ARGV[1], 'c' .. i) end"),
				List.of(this.stream.name()), TestStream.GROUP);
		GroupDetails details = answered();
		assertThat(details.problem()).isNull();
		assertThat(Objects.requireNonNull(details.backlog()).consumers()).isEqualTo(10_001);
		assertThat(details.consumers()).hasSize(100);
		assertThat(details.consumers().get(0).pending()).isEqualTo(1);
	}

	@Test
	void answersSoonWhileRedisIsAwayAndAgainWhenItIsBack() {
		await().until(() -> find() != null);
		redis.stop();
		network.reset();
		assertThat(find()).isNull();
		assertThat(details().problem()).isEqualTo("Redis did not respond");
		redis.start();
		await().until(() -> find() != null);
		assertThat(answered().problem()).isNull();
	}

	@Test
	void waitsTwoSecondsAtMostForASilentRedis() {
		await().until(() -> find() != null);
		network.hold();
		long shortest = Long.MAX_VALUE;
		for (int i = 0; i < 3; i++) {
			long started = System.nanoTime();
			assertThat(find()).isNull();
			shortest = Math.min(shortest, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started));
		}
		// Workers would wait for 5 s each time; a busy machine delays some.
		assertThat(shortest).isLessThan(4_500);
		network.resume();
		await().until(() -> find() != null);
	}

	@Test
	void answersAfterTheContainerWasClosed() {
		await().until(() -> find() != null);
		StreamInspector inspector = inspector();
		this.instance.close();
		assertThat(inspector.backlogs()).isEmpty();
		assertThat(inspector.details()).extracting(GroupDetails::problem).containsExactly("Redis did not respond");
	}

	/**
	 * The details, once Redis has responded in time.
	 */
	private GroupDetails answered() {
		return await().until(this::details, (details) -> !"Redis did not respond".equals(details.problem()));
	}

	private GroupBacklog backlog() {
		return Objects.requireNonNull(await().until(this::find, Objects::nonNull));
	}

	private @Nullable GroupBacklog find() {
		Map<ConsumerGroup, GroupBacklog> backlogs = inspector().backlogs();
		return backlogs.get(new ConsumerGroup(this.stream.name(), TestStream.GROUP));
	}

	/**
	 * Whether this Redis is of version 7 or newer.
	 */
	private static boolean hasLag() {
		Properties server = redis.connect().getConnection().serverCommands().info("server");
		return !server.getProperty("redis_version").startsWith("6.");
	}

	private GroupDetails details() {
		List<GroupDetails> details = inspector().details();
		assertThat(details).hasSize(1);
		return details.get(0);
	}

	private StreamInspector inspector() {
		return inspector(this.instance);
	}

	private static StreamInspector inspector(ConfigurableApplicationContext instance) {
		return Objects.requireNonNull(instance.getBean(RedisStreamListenerContainer.class).inspector());
	}

}
