package dev.idempotent.benchmark.outbox;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.idempotent.benchmark.Settings;
import io.namastack.outbox.Outbox;
import io.namastack.outbox.OutboxProcessingScheduler;
import io.namastack.outbox.handler.OutboxRecordMetadata;
import io.namastack.outbox.handler.OutboxTypedHandler;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import tools.jackson.databind.json.JsonMapper;

/**
 * The JDBC outbox of namastack, tuned for throughput and latency; docs/benchmark.md says
 * how and why.
 */
final class NamastackOutbox implements OutboxContender {

	private static final String PREFIX = "namastack.outbox.";

	private final String name;

	private final int keys;

	private final Shop shop;

	private final Outbox outbox;

	private final OutboxProcessingScheduler scheduler;

	private final EventStream stream;

	/**
	 * Starts the application.
	 * @param name tells it from others of its kind
	 * @param keys how many keys the events are spread over; 0 for a key of its own for
	 * each, which is namastack's default
	 */
	NamastackOutbox(String name, int keys, Servers servers, Tuning tuning) {
		this.name = name;
		this.keys = keys;
		this.shop = Shop.open(name.replace('-', '_'), servers, Handlers.class,
				tuning.properties("benchmark.stream=" + EventStream.nameFor(name)));
		this.outbox = this.shop.application().bean(Outbox.class);
		this.scheduler = this.shop.application().bean(OutboxProcessingScheduler.class);
		this.stream = EventStream.of(servers.redis(), name);
		stopDelivery();
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public long place() {
		return this.shop.place((order) -> {
			if (this.keys == 0) {
				this.outbox.schedule(order);
			}
			else {
				this.outbox.schedule(order, "customer-" + order.number() % this.keys);
			}
		});
	}

	@Override
	public void append(OrderPlaced event, String key) {
		this.outbox.schedule(event, key);
	}

	@Override
	public void startDelivery() {
		this.scheduler.start();
	}

	@Override
	public void stopDelivery() {
		this.scheduler.stop();
	}

	@Override
	public Shop shop() {
		return this.shop;
	}

	@Override
	public EventStream stream() {
		return this.stream;
	}

	@Override
	public void close() {
		this.stream.close();
		this.shop.close();
	}

	/**
	 * What is worth trying out.
	 *
	 * @param batchSize how many keys a poll takes
	 * @param pollMillis the pause after a poll
	 * @param threads how many keys are worked on at once
	 */
	record Tuning(int batchSize, int pollMillis, int threads) {

		static Tuning of(Settings settings) {
			return new Tuning(settings.number("namastack.batch-size", 1_000),
					settings.number("namastack.poll-millis", 1), settings.number("namastack.threads", 12));
		}

		String[] properties(String... others) {
			List<String> all = new ArrayList<>(List.of("idempotent.enabled=false", "idempotent.outbox.enabled=false",
					PREFIX + "polling.batch-size=" + this.batchSize,
					PREFIX + "polling.fixed.interval=" + this.pollMillis + "ms",
					PREFIX + "processing.executor-core-pool-size=" + this.threads,
					PREFIX + "processing.executor-max-pool-size=" + this.threads,
					PREFIX + "processing.delete-completed-records=true",
					PREFIX + "processing.stop-on-first-failure=false", PREFIX + "multicaster.enabled=false"));
			all.addAll(List.of(others));
			return all.toArray(String[]::new);
		}

	}

	@EnableAutoConfiguration
	@Import(StatementCount.class)
	@Configuration(proxyBeanMethods = false)
	static class Handlers {

		@Bean
		PublishingHandler publishingHandler(StringRedisTemplate redis, JsonMapper json,
				@Value("${benchmark.stream}") String stream) {
			return new PublishingHandler(redis, json, stream);
		}

	}

	/**
	 * Sends an event, and returns when Redis has it.
	 */
	record PublishingHandler(StringRedisTemplate redis, JsonMapper json,
			String stream) implements OutboxTypedHandler<OrderPlaced> {

		@Override
		public void handle(OrderPlaced order, OutboxRecordMetadata metadata) {
			this.redis.opsForStream()
				.add(this.stream, Map.of("type", "order.placed", "payload", this.json.writeValueAsString(order)));
		}

	}

}
