package dev.idempotent.benchmark.outbox;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.courier.OutboxCourier;

/**
 * This project's outbox, with its defaults.
 */
final class OwnOutbox implements OutboxContender {

	static final String NAME = "ours";

	private static final String TOPIC = "redis-stream:" + EventStream.nameFor(NAME);

	private final Shop shop;

	private final Outbox outbox;

	private final OutboxCourier courier;

	private final EventStream stream;

	OwnOutbox(Servers servers) {
		this.shop = Shop.open(NAME, servers, Empty.class, "namastack.outbox.enabled=false",
				"idempotent.outbox.initialize-schema=always", "idempotent.outbox.default-topic=" + TOPIC);
		this.outbox = this.shop.application().bean(Outbox.class);
		this.courier = this.shop.application().bean(OutboxCourier.class);
		this.stream = EventStream.of(servers.redis(), NAME);
		stopDelivery();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public long place() {
		return this.shop.place((order) -> this.outbox.append(OutboxEvent.of("order.placed", order).toTopic(TOPIC)));
	}

	@Override
	public void startDelivery() {
		this.courier.start();
	}

	@Override
	public void stopDelivery() {
		this.courier.stop();
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

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
