package dev.idempotent.benchmark.outbox;

import java.util.List;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * This project's handlers. Its documentation advises one setting for handlers that wait
 * for something, as for a commit: {@code idempotent.outbox.handlers.concurrency}
 * (docs/configuration.md).
 */
final class OwnHandlers extends HandlerContender {

	/**
	 * The handler's work commits together with the removal of the event.
	 */
	static final String TRANSACTIONAL = "ours";

	/**
	 * The event is removed after the handler's work.
	 */
	static final String AT_LEAST_ONCE = "ours-at-least-once";

	/**
	 * A call gets up to 100 events, which are removed in its transaction.
	 */
	static final String BATCHES = "ours-batches";

	private final Outbox outbox;

	private final OutboxRelay relay;

	OwnHandlers(String name, Servers servers, int threads) {
		super(name, "outbox_event",
				Shop.open("handlers_" + name.replace('-', '_'), servers, source(name), "namastack.outbox.enabled=false",
						"idempotent.outbox.initialize-schema=always", "idempotent.outbox.default-topic=handlers",
						"idempotent.outbox.handlers.concurrency=" + threads));
		this.outbox = shop().application().bean(Outbox.class);
		this.relay = shop().application().bean(OutboxRelay.class);
		stopHandling();
	}

	private static Class<?> source(String name) {
		return switch (name) {
			case TRANSACTIONAL -> Transactional.class;
			case BATCHES -> Batches.class;
			default -> AtLeastOnce.class;
		};
	}

	@Override
	long place() {
		return shop().place((order) -> this.outbox.append(OutboxEvent.of("order.placed", order)));
	}

	@Override
	void startHandling() {
		this.relay.start();
	}

	@Override
	void stopHandling() {
		this.relay.stop();
	}

	@EnableAutoConfiguration
	@Import(BookingConfiguration.class)
	@Configuration(proxyBeanMethods = false)
	static class Transactional {

		@Bean
		TransactionalHandler handler(Booking booking) {
			return new TransactionalHandler(booking);
		}

	}

	@EnableAutoConfiguration
	@Import(BookingConfiguration.class)
	@Configuration(proxyBeanMethods = false)
	static class AtLeastOnce {

		@Bean
		OtherHandler handler(Booking booking) {
			return new OtherHandler(booking);
		}

	}

	@EnableAutoConfiguration
	@Import(BookingConfiguration.class)
	@Configuration(proxyBeanMethods = false)
	static class Batches {

		@Bean
		BatchHandler handler(Booking booking) {
			return new BatchHandler(booking);
		}

	}

	/**
	 * Books one by one what its call has got.
	 */
	record BatchHandler(Booking booking) {

		@OutboxHandler(type = "order.placed", name = "batchHandler.on", batch = 100)
		public void on(List<OrderPlaced> orders) {
			orders.forEach(this.booking::book);
		}

	}

	/**
	 * Books in the transaction that removes the event.
	 */
	record TransactionalHandler(Booking booking) {

		@OutboxHandler(type = "order.placed", name = "transactionalHandler.on")
		public void on(OrderPlaced order) {
			this.booking.book(order);
		}

	}

	/**
	 * Books outside of a transaction.
	 */
	record OtherHandler(Booking booking) {

		@OutboxHandler(type = "order.placed", transactional = false, name = "otherHandler.on")
		public void on(OrderPlaced order) {
			this.booking.book(order);
		}

	}

}
