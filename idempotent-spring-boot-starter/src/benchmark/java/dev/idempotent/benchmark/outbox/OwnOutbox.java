package dev.idempotent.benchmark.outbox;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * This project's outbox, with its defaults.
 */
final class OwnOutbox implements OutboxContender {

	static final String NAME = "ours";

	private final Variant variant;

	private final String topic;

	private final List<Instance> instances = new ArrayList<>();

	private final EventStream stream;

	/**
	 * Opens the instances.
	 */
	OwnOutbox(Variant variant, Servers servers) {
		this.variant = variant;
		this.topic = "redis-stream:" + EventStream.nameFor(variant.name());
		String[] properties = { "namastack.outbox.enabled=false", "idempotent.outbox.initialize-schema=always",
				"idempotent.outbox.default-topic=" + this.topic };
		String name = variant.name().replace('-', '_');
		Shop first = Shop.open(name, servers, Empty.class, properties);
		this.instances.add(Instance.of(first));
		for (int i = 1; i < variant.instances(); i++) {
			this.instances.add(Instance.of(first.another(name, servers, Empty.class, properties)));
		}
		this.stream = EventStream.of(servers.redis(), variant.name());
		stopDelivery();
	}

	@Override
	public String name() {
		return this.variant.name();
	}

	@Override
	public long place() {
		Instance instance = this.instances.get(ThreadLocalRandom.current().nextInt(this.instances.size()));
		return instance.shop().place((order) -> instance.outbox().append(event(order)));
	}

	@Override
	public void append(OrderPlaced event, String key) {
		this.instances.get(0).outbox().append(OutboxEvent.of("order.placed", event).toTopic(this.topic).withKey(key));
	}

	private OutboxEvent event(OrderPlaced order) {
		OutboxEvent event = OutboxEvent.of("order.placed", order).toTopic(this.topic);
		return (this.variant.keys() == 0) ? event : event.withKey("order-" + order.number() % this.variant.keys());
	}

	String topic() {
		return this.topic;
	}

	@Override
	public void startDelivery() {
		this.instances.forEach((instance) -> instance.relay().start());
	}

	@Override
	public void stopDelivery() {
		this.instances.forEach((instance) -> instance.relay().stop());
	}

	@Override
	public Shop shop() {
		return this.instances.get(0).shop();
	}

	@Override
	public long otherRowWrites() {
		return Shop.otherRowWrites(this.instances.stream().map(Instance::shop).toList());
	}

	@Override
	public EventStream stream() {
		return this.stream;
	}

	@Override
	public void close() {
		this.stream.close();
		this.instances.forEach((instance) -> instance.shop().close());
	}

	/**
	 * What to open.
	 *
	 * @param name the name of the contender
	 * @param keys how many keys the events are spread over; 0 for events without keys,
	 * which are not ordered
	 * @param instances how many instances append and deliver
	 */
	record Variant(String name, int keys, int instances) {
	}

	private record Instance(Shop shop, Outbox outbox, OutboxRelay relay) {

		static Instance of(Shop shop) {
			return new Instance(shop, shop.application().bean(Outbox.class),
					shop.application().bean(OutboxRelay.class));
		}

	}

	@EnableAutoConfiguration
	@Import(StatementCount.class)
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
