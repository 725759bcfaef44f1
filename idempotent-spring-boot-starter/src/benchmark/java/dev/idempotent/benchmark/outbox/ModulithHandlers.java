package dev.idempotent.benchmark.outbox;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.modulith.events.ApplicationModuleListener;

/**
 * A listener of Spring Modulith with the event publication registry, JDBC. Of the
 * completion modes that the chapter "Working with Application Events" of its reference
 * offers, it has the one that leaves no rows behind, as all do here. It is called from
 * memory after the commit.
 */
final class ModulithHandlers extends InMemoryHandlers {

	static final String NAME = "modulith";

	ModulithHandlers(Servers servers, int threads) {
		super(NAME, "event_publication",
				Shop.open("handlers_" + NAME, servers, Handlers.class, "idempotent.enabled=false",
						"idempotent.outbox.enabled=false", "namastack.outbox.enabled=false",
						"spring.modulith.events.jdbc.schema-initialization.enabled=true",
						"spring.modulith.events.completion-mode=delete", "benchmark.threads=" + threads));
	}

	@Override
	long place() {
		return shop().place(shop().application()::publish);
	}

	@EnableAutoConfiguration
	@Import({ BookingConfiguration.class, InMemoryHandlers.Threads.class, ModulithOutbox.Registry.class })
	@Configuration(proxyBeanMethods = false)
	static class Handlers {

		@Bean
		Listener listener(Booking booking) {
			return new Listener(booking);
		}

	}

	/**
	 * Books in a transaction of its own. A proxy is made of it.
	 */
	static class Listener {

		private final Booking booking;

		Listener(Booking booking) {
			this.booking = booking;
		}

		@ApplicationModuleListener
		void on(OrderPlaced order) {
			this.booking.book(order);
		}

	}

}
