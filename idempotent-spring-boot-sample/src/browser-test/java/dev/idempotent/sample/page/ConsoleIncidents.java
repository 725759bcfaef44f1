package dev.idempotent.sample.page;

import java.io.IOException;
import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.StepRefusedException;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * What goes wrong in the shop of the console, until it is repaired.
 */
@TestConfiguration(proxyBeanMethods = false)
class ConsoleIncidents {

	static final String OPERATOR = "ada";

	@Bean
	AuditLog auditLog() {
		return new AuditLog();
	}

	@Bean
	Door door() {
		return new Door();
	}

	@Bean
	Broker broker() {
		return new Broker();
	}

	@Bean
	Producer producer(Outbox outbox, TransactionTemplate transactions) {
		return new Producer(outbox, transactions);
	}

	@Bean
	Warehouse warehouse() {
		return new Warehouse();
	}

	@Bean
	Booking booking(SagaSteps saga, Warehouse warehouse) {
		return new Booking(saga, warehouse);
	}

	@Bean
	Bookings bookings(Sagas sagas, Booking booking) {
		return new Bookings(sagas, booking);
	}

	/**
	 * Names the operator, and answers with a status of its choice for the endpoints but
	 * the console.
	 */
	static class Door extends OncePerRequestFilter {

		private static final int OPEN = 200;

		private volatile int status = OPEN;

		void close(int status) {
			this.status = status;
		}

		void open() {
			this.status = OPEN;
		}

		@Override
		protected boolean shouldNotFilter(HttpServletRequest request) {
			return !request.getRequestURI().startsWith("/actuator/");
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			if (this.status != OPEN && !request.getRequestURI().endsWith("/console")) {
				response.setStatus(this.status);
				return;
			}
			chain.doFilter(new HttpServletRequestWrapper(request) {

				@Override
				public Principal getUserPrincipal() {
					return () -> OPERATOR;
				}

			}, response);
		}

	}

	static class AuditLog implements ApplicationListener<AuditApplicationEvent> {

		private final Collection<AuditEvent> events = new ConcurrentLinkedQueue<>();

		@Override
		public void onApplicationEvent(AuditApplicationEvent event) {
			this.events.add(event.getAuditEvent());
		}

		void clear() {
			this.events.clear();
		}

		List<AuditEvent> events() {
			return List.copyOf(this.events);
		}

	}

	/**
	 * Rejects all events until it is repaired.
	 */
	static class Broker implements OutboxPublisher {

		static final String REASON = "The broker has no topic of this name";

		private final Collection<String> delivered = new ConcurrentLinkedQueue<>();

		private volatile boolean repaired;

		void repair() {
			this.repaired = true;
		}

		void breakDown() {
			this.repaired = false;
			this.delivered.clear();
		}

		/**
		 * The types of the delivered events, in their order.
		 */
		List<String> delivered() {
			return List.copyOf(this.delivered);
		}

		@Override
		public String prefix() {
			return "broker";
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			return events.stream().map(this::publish).toList();
		}

		private Outcome publish(SerializedEvent event) {
			if (!this.repaired) {
				return new Outcome.Reject(REASON);
			}
			this.delivered.add(event.type());
			return new Outcome.Delivered();
		}

	}

	static class Producer {

		static final String TOPIC = "broker:parcels";

		private final Outbox outbox;

		private final TransactionTemplate transactions;

		Producer(Outbox outbox, TransactionTemplate transactions) {
			this.outbox = outbox;
			this.transactions = transactions;
		}

		void append(String type) {
			append(List.of(OutboxEvent.of(type, Map.of()).toTopic(TOPIC)));
		}

		void appendInOrder(String key, List<String> types) {
			append(types.stream().map((type) -> OutboxEvent.of(type, Map.of()).toTopic(TOPIC).withKey(key)).toList());
		}

		private void append(List<OutboxEvent> events) {
			this.transactions.executeWithoutResult((status) -> this.outbox.append(events));
		}

	}

	/**
	 * Refuses to take goods back until it is repaired.
	 */
	static class Warehouse {

		static final String REASON = "The goods have left the warehouse";

		private volatile boolean repaired;

		void repair() {
			this.repaired = true;
		}

		void breakDown() {
			this.repaired = false;
		}

		String hold(String key) {
			return "held under " + key;
		}

		void takeBack() {
			if (!this.repaired) {
				throw new StepRefusedException(REASON);
			}
		}

	}

	static class Booking {

		private final SagaSteps saga;

		private final Warehouse warehouse;

		Booking(SagaSteps saga, Warehouse warehouse) {
			this.saga = saga;
			this.warehouse = warehouse;
		}

		@Saga(name = "booking", key = "#id")
		public void book(String id) {
			this.saga.step("hold", String.class)
				.compensate((held, key) -> this.warehouse.takeBack())
				.run((key) -> this.warehouse.hold(key));
			this.saga.step("charge").run((key) -> {
				throw new StepRefusedException("The card is refused");
			});
		}

	}

	static class Bookings {

		private final Sagas sagas;

		private final Booking booking;

		Bookings(Sagas sagas, Booking booking) {
			this.sagas = sagas;
			this.booking = booking;
		}

		IdempotencyKey start() {
			String id = UUID.randomUUID().toString();
			return this.sagas.start(() -> this.booking.book(id));
		}

	}

}
