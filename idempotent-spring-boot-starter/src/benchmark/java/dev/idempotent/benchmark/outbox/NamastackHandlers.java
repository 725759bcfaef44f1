package dev.idempotent.benchmark.outbox;

import io.namastack.outbox.Outbox;
import io.namastack.outbox.OutboxProcessingScheduler;
import io.namastack.outbox.handler.OutboxRecordMetadata;
import io.namastack.outbox.handler.OutboxTypedHandler;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The handlers of namastack-outbox, JDBC. The pages "Polling Strategies" and "Processing
 * Chain" of its reference offer batch size, pause between polls, threads and the removal
 * of completed records; the values are the same as in {@link NamastackOutbox}.
 */
final class NamastackHandlers extends HandlerContender {

	static final String NAME = "namastack";

	private final Outbox outbox;

	private final OutboxProcessingScheduler scheduler;

	NamastackHandlers(Servers servers, NamastackOutbox.Tuning tuning) {
		super(NAME, "outbox_record", Shop.open("handlers_" + NAME, servers, Handlers.class, tuning.properties()));
		this.outbox = shop().application().bean(Outbox.class);
		this.scheduler = shop().application().bean(OutboxProcessingScheduler.class);
		stopHandling();
	}

	@Override
	long place() {
		return shop().place(this.outbox::schedule);
	}

	@Override
	void startHandling() {
		this.scheduler.start();
	}

	@Override
	void stopHandling() {
		this.scheduler.stop();
	}

	@EnableAutoConfiguration
	@Import(BookingConfiguration.class)
	@Configuration(proxyBeanMethods = false)
	static class Handlers {

		@Bean
		Handler handler(Booking booking) {
			return new Handler(booking);
		}

	}

	/**
	 * Books outside of a transaction.
	 */
	record Handler(Booking booking) implements OutboxTypedHandler<OrderPlaced> {

		@Override
		public void handle(OrderPlaced order, OutboxRecordMetadata metadata) {
			this.booking.book(order);
		}

	}

}
