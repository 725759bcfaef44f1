package dev.idempotent.benchmark.outbox;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * This project's outbox, with its defaults.
 */
final class OwnOutbox implements OutboxContender {

	static final String NAME = "ours";

	private static final String TOPIC = "redis-stream:" + EventStream.nameFor(NAME);

	private final Shop shop;

	private final Outbox outbox;

	private final OutboxRelay relay;

	private final EventStream stream;

	OwnOutbox(Servers servers) {
		this.shop = Shop.open(NAME, servers, Empty.class, "namastack.outbox.enabled=false",
				"idempotent.outbox.initialize-schema=always", "idempotent.outbox.default-topic=" + TOPIC);
		this.outbox = this.shop.application().bean(Outbox.class);
		this.relay = this.shop.application().bean(OutboxRelay.class);
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
		this.relay.start();
	}

	@Override
	public void stopDelivery() {
		this.relay.stop();
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
