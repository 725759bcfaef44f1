package dev.idempotent.benchmark.outbox;

import io.lettuce.core.api.async.RedisStreamAsyncCommands;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * No outbox: whoever places an order sends its event right after the commit, and loses it
 * if the process dies in between. This is the shortest way from a commit to a consumer.
 */
final class DirectSender implements OutboxContender {

	static final String NAME = "direct";

	private final Shop shop;

	private final EventStream stream;

	private final RedisStreamAsyncCommands<String, String> commands;

	DirectSender(Servers servers) {
		this.shop = Shop.open(NAME, servers, Empty.class, "idempotent.enabled=false", "idempotent.outbox.enabled=false",
				"namastack.outbox.enabled=false");
		this.stream = EventStream.of(servers.redis(), NAME);
		this.commands = this.stream.commands();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public long place() {
		return this.shop.place((order) -> {
		});
	}

	@Override
	public void committed(long order) {
		this.commands.xadd(EventStream.nameFor(NAME), "payload", "{\"number\":" + order + "}");
	}

	@Override
	public void startDelivery() {
	}

	@Override
	public void stopDelivery() {
	}

	@Override
	public boolean hasBacklog() {
		return false;
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
