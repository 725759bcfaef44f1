package dev.idempotent.outbox.redis;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.test.OutboxPublisherContract;
import dev.idempotent.testing.RealRedis;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.connection.stream.StreamRecords;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedisStreamPublisher}.
 */
class RedisStreamPublisherIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final LettuceConnectionFactory application = redis.connect();

	private final Streams streams = new Streams(this.application);

	private final StringRedisTemplate template = new StringRedisTemplate(this.application);

	private RedisStreamPublisher publisher = publisher(null, 0, TIMEOUT);

	@BeforeEach
	void flush() {
		redis.flush();
	}

	@AfterEach
	void close() {
		this.publisher.close();
	}

	@Test
	void keepsTheOrderOfABatch() {
		assertThat(this.publisher.publish(Events.numbered("orders", 500))).hasSize(500).containsOnly(DELIVERED);
		assertThat(this.streams.payloads("orders")).isEqualTo(Streams.numbers(500));
	}

	@Test
	void sendsHeadersAndPayloadUnchanged() {
		byte[] payload = new byte[256];
		IntStream.range(0, payload.length).forEach((i) -> payload[i] = (byte) i);
		SerializedEvent event = Events.to("orders", 42, payload, Map.of("ce_source", "/shop", "content-type",
				"application/octet-stream", "farbe", "grün\r\n$1", "payload", "another"));
		assertThat(this.publisher.publish(List.of(event))).containsExactly(DELIVERED);
		var entry = this.streams.entries("orders").get(0);
		assertThat(Streams.field(entry, "payload")).isEqualTo(payload);
		Map<String, String> fields = Streams.fields(entry);
		fields.remove("payload");
		assertThat(fields).containsExactlyInAnyOrderEntriesOf(
				Map.of("ce_specversion", "1.0", "ce_id", event.id().toString(), "ce_type", "order.created",
						"ce_subject", "key", "ce_partitionkey", "key", "ce_sequence", "0000000000000000042",
						"ce_source", "/shop", "content-type", "application/octet-stream", "farbe", "grün\r\n$1"));
	}

	@Test
	void deliversTheEventsAroundARejectedOne() {
		this.template.opsForValue().set("text", "secret");
		List<Outcome> outcomes = this.publisher
			.publish(List.of(Events.to("orders", "0"), Events.to("text", "lost"), Events.to("orders", "1")));
		assertThat(outcomes).containsExactly(DELIVERED, new Outcome.Retry("Redis rejected the event (WRONGTYPE)", null),
				DELIVERED);
		assertThat(this.streams.payloads("orders")).isEqualTo(Streams.numbers(2));
	}

	@Test
	void addsNothingOfAKeyBehindAnEventThatIsRefused() {
		assertThat(this.publisher.keepsOrder()).isTrue();
		assertStopsAtTheEndOfIds(this.publisher);
	}

	@Test
	void addsNothingOfAKeyBehindAnEventThatIsRefusedWithAnyClient() {
		assertStopsAtTheEndOfIds(new RedisStreamPublisher(this.application, null));
	}

	/**
	 * Two entries have ids left.
	 */
	private void assertStopsAtTheEndOfIds(RedisStreamPublisher tested) {
		String most = "18446744073709551615";
		this.template.opsForStream()
			.add(StreamRecords.string(Map.of("payload", "before"))
				.withStreamKey("orders")
				.withId(RecordId.of(most + "-18446744073709551613")));
		List<SerializedEvent> events = new ArrayList<>(Events.numbered("orders", 5));
		events.add(Events.to("others", "0"));
		List<Outcome> outcomes = tested.publish(events);
		assertThat(outcomes).startsWith(DELIVERED, DELIVERED, new Outcome.Retry("Redis rejected the event (ERR)", null))
			.endsWith(DELIVERED)
			.hasSize(6);
		assertThat(outcomes.subList(3, 5)).hasOnlyElementsOfType(Outcome.Unavailable.class);
		assertThat(this.streams.payloads("orders")).containsExactly("before", "0", "1");
	}

	@Test
	void sendsABatchWithOneFlush() throws Exception {
		AtomicInteger flushes = new AtomicInteger();
		ClientResources resources = ClientResources.builder().nettyCustomizer(counting(flushes)).build();
		LettuceConnectionFactory counted = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration(redis.host(), redis.port()),
				LettuceClientConfiguration.builder().clientResources(resources).build());
		counted.afterPropertiesSet();
		try (RedisStreamPublisher counting = new RedisStreamPublisher(DedicatedRedisConnections.to(counted, TIMEOUT),
				null, 0, TIMEOUT)) {
			counting.publish(Events.numbered("warm", 1));
			flushes.set(0);
			counting.publish(Events.numbered("orders", 100));
			assertThat(flushes).hasValue(1);
		}
		counted.destroy();
		resources.shutdown(0, 0, TimeUnit.SECONDS).get();
		assertThat(this.streams.payloads("orders")).isEqualTo(Streams.numbers(100));
	}

	@Test
	void usesOneConnectionPerThreadAndKeepsThem() throws Exception {
		LettuceConnectionFactory named = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration(redis.host(), redis.port()),
				LettuceClientConfiguration.builder().clientName("one-per-thread").build());
		named.afterPropertiesSet();
		RedisStreamPublisher shared = new RedisStreamPublisher(DedicatedRedisConnections.to(named, TIMEOUT), null, 0,
				TIMEOUT);
		CyclicBarrier barrier = new CyclicBarrier(4);
		List<CompletableFuture<Void>> threads = new ArrayList<>();
		for (int thread = 0; thread < 4; thread++) {
			String stream = "orders-" + thread;
			threads.add(CompletableFuture.runAsync(() -> {
				for (int round = 0; round < 20; round++) {
					await(barrier);
					assertThat(shared.publish(Events.numbered(stream, 50))).containsOnly(DELIVERED);
				}
			}, (task) -> new Thread(task).start()));
		}
		CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
		assertThat(this.template.getClientList()).filteredOn((client) -> "one-per-thread".equals(client.getName()))
			.hasSizeBetween(1, 4);
		shared.close();
		named.destroy();
		for (int thread = 0; thread < 4; thread++) {
			List<String> twentyTimes = new ArrayList<>();
			IntStream.range(0, 20).forEach((round) -> twentyTimes.addAll(Streams.numbers(50)));
			assertThat(this.streams.payloads("orders-" + thread)).isEqualTo(twentyTimes);
		}
	}

	@Test
	void trimsStreamsOnlyIfConfigured() {
		try (RedisStreamPublisher trimming = publisher(100L, 0, TIMEOUT)) {
			trimming.publish(Events.numbered("trimmed", 1000));
		}
		this.publisher.publish(Events.numbered("orders", 1000));
		assertThat(this.streams.payloads("trimmed")).hasSizeBetween(100, 300).endsWith("998", "999");
		assertThat(this.streams.payloads("orders")).hasSize(1000);
	}

	@Test
	void requiresTheConfirmationOfReplicas() {
		this.template.opsForValue().set("text", "secret");
		try (RedisStreamPublisher waiting = publisher(null, 1, Duration.ofMillis(50))) {
			List<Outcome> outcomes = waiting.publish(List.of(Events.to("orders", "0"), Events.to("text", "lost")));
			assertThat(outcomes).containsExactly(new Outcome.Unavailable(
					"0 of the 1 replicas that idempotent.outbox.redis.wait-replicas requires confirmed within PT0.05S"),
					new Outcome.Retry("Redis rejected the event (WRONGTYPE)", null));
		}
	}

	@Test
	void publishesSequentiallyWithAnyClient() {
		this.template.opsForValue().set("text", "secret");
		try (RedisStreamPublisher plain = new RedisStreamPublisher(this.application, null)) {
			assertThat(plain
				.publish(List.of(Events.to("orders", "0"), Events.to("text", "lost"), Events.to("orders", "1"))))
				.containsExactly(DELIVERED, new Outcome.Retry("Redis rejected the event (WRONGTYPE)", null), DELIVERED);
		}
		assertThat(this.streams.payloads("orders")).isEqualTo(Streams.numbers(2));
	}

	@Test
	void deliversNothingThatAClientOnlyQueues() {
		RedisConnectionFactory queueing = (RedisConnectionFactory) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class }, (proxy, method, arguments) -> {
					Object result = method.invoke(this.application, arguments);
					if (result instanceof RedisConnection connection) {
						connection.multi();
					}
					return result;
				});
		try (RedisStreamPublisher plain = new RedisStreamPublisher(queueing, null)) {
			assertThat(plain.publish(List.of(Events.to("orders", "0"))))
				.containsExactly(new Outcome.Retry("Redis did not confirm the event", null));
		}
		assertThat(this.streams.payloads("orders")).isEmpty();
	}

	private RedisStreamPublisher publisher(@Nullable Long maxLength, int waitReplicas, Duration waitTimeout) {
		return new RedisStreamPublisher(DedicatedRedisConnections.to(redis.connect(), TIMEOUT), maxLength, waitReplicas,
				waitTimeout);
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(60, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Counts flushes at the socket.
	 */
	private static NettyCustomizer counting(AtomicInteger flushes) {
		return new NettyCustomizer() {
			@Override
			public void afterChannelInitialized(Channel channel) {
				channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
					@Override
					public void flush(ChannelHandlerContext context) {
						flushes.incrementAndGet();
						context.flush();
					}
				});
			}
		};
	}

	/**
	 * The contract of publishers for {@link RedisStreamPublisher}.
	 */
	@Nested
	class Contract extends OutboxPublisherContract {

		private final LettuceConnectionFactory application = redis.connect();

		private final Streams streams = new Streams(this.application);

		private final RedisStreamPublisher publisher = to(this.application);

		@AfterEach
		void close() {
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
		protected List<Message> received(String destination) {
			return this.streams.entries(destination)
				.stream()
				.map((entry) -> new Message(text(Streams.field(entry, "ce_id")), text(Streams.field(entry, "payload"))))
				.toList();
		}

		private static RedisStreamPublisher to(LettuceConnectionFactory factory) {
			return new RedisStreamPublisher(DedicatedRedisConnections.to(factory, TIMEOUT), null, 0, TIMEOUT);
		}

		private static String text(byte[] bytes) {
			return new String(bytes, StandardCharsets.UTF_8);
		}

	}

}
