package dev.idempotent.benchmark.outbox;

import java.time.Clock;
import java.util.Set;

import com.gruelbox.transactionoutbox.DefaultInvocationSerializer;
import com.gruelbox.transactionoutbox.DefaultPersistor;
import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.SpringInstantiator;
import com.gruelbox.transactionoutbox.SpringTransactionManager;
import com.gruelbox.transactionoutbox.SpringTransactionOutboxConfiguration;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * The transaction-outbox of gruelbox with its support for Spring, set up as its README
 * says under "Spring" and "Configuration reference": the dialect, which skips locked
 * rows, the types that may be written, and an executor of its own. It calls the handler
 * from memory after the commit, in the transaction that deletes the record; a background
 * worker is for what is older than {@code attemptFrequency}, two minutes, and has nothing
 * to do here.
 */
final class GruelboxHandlers extends InMemoryHandlers {

	static final String NAME = "transaction-outbox";

	private final TransactionOutbox outbox;

	GruelboxHandlers(Servers servers, int threads) {
		super(NAME, "txno_outbox", Shop.open("handlers_gruelbox", servers, Handlers.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "namastack.outbox.enabled=false", "benchmark.threads=" + threads));
		this.outbox = shop().application().bean(TransactionOutbox.class);
	}

	@Override
	long place() {
		return shop().place((order) -> this.outbox.schedule(Handler.class).handle(order));
	}

	/**
	 * What is scheduled.
	 */
	interface Handler {

		void handle(OrderPlaced order);

	}

	@EnableAutoConfiguration
	@Import({ BookingConfiguration.class, InMemoryHandlers.Threads.class, SpringTransactionOutboxConfiguration.class })
	@Configuration(proxyBeanMethods = false)
	static class Handlers {

		@Bean
		TransactionOutbox transactionOutbox(SpringTransactionManager transactions, SpringInstantiator beans,
				ThreadPoolTaskExecutor applicationTaskExecutor) {
			return TransactionOutbox.builder()
				// Its default is a class of Hibernate Validator 6
				.clockProvider(Clock::systemUTC)
				.transactionManager(transactions)
				.instantiator(beans)
				.submitter(Submitter.withExecutor(applicationTaskExecutor))
				.persistor(DefaultPersistor.builder()
					.dialect(Dialect.POSTGRESQL_9)
					.serializer(DefaultInvocationSerializer.builder()
						.serializableTypes(Set.of(OrderPlaced.class, OrderPlaced.Line.class))
						.build())
					.build())
				.build();
		}

		@Bean
		BookingHandler handler(Booking booking) {
			return new BookingHandler(booking);
		}

	}

	/**
	 * Books in the transaction that deletes the record.
	 */
	record BookingHandler(Booking booking) implements Handler {

		@Override
		public void handle(OrderPlaced order) {
			this.booking.book(order);
		}

	}

}
