package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.StepRefusedException;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

/**
 * An application with a saga that is halted, because an undo is refused, until the
 * warehouse accepts returns.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ SagaShop.Checkout.class, SagaShop.Warehouse.class, SagaShop.Audits.class })
class SagaShop {

	static class Checkout {

		private final SagaSteps saga;

		private final Warehouse warehouse;

		Checkout(SagaSteps saga, Warehouse warehouse) {
			this.saga = saga;
			this.warehouse = warehouse;
		}

		/**
		 * Places an order, unless its card is refused. Waits for the payment by transfer.
		 */
		@Saga(name = "checkout", key = "#order")
		public String place(String order, String card) {
			this.saga.step("order").compensate((none) -> this.warehouse.log("reject " + order)).runInTransaction(() -> {
			});
			this.saga.step("hold", String.class)
				.compensate((hold) -> this.warehouse.takeBack(hold))
				.run(() -> this.warehouse.hold(order));
			if (card.equals("transfer")) {
				Payment payment = this.saga.await("paid", Payment.class).within(Duration.ofMinutes(5));
				this.warehouse.log("paid " + payment.amount());
				return order;
			}
			this.saga.step("charge").run(() -> this.warehouse.charge(card));
			return order;
		}

		record Payment(int amount) {
		}

	}

	static class Warehouse {

		private final List<String> log = new CopyOnWriteArrayList<>();

		private final Map<String, Boolean> held = new ConcurrentHashMap<>();

		private final AtomicBoolean failsNextCharge = new AtomicBoolean();

		private volatile boolean acceptsReturns = true;

		String hold(String order) {
			this.held.put("held for " + order, true);
			return "held for " + order;
		}

		void takeBack(String hold) {
			if (!this.acceptsReturns) {
				throw new StepRefusedException("The goods have left the warehouse");
			}
			this.held.remove(hold);
			log("take back " + hold);
		}

		void charge(String card) {
			if (this.failsNextCharge.getAndSet(false)) {
				throw new IllegalStateException("No answer");
			}
			if (card.equals("refused")) {
				throw new StepRefusedException("The card is refused");
			}
		}

		void failNextCharge() {
			this.failsNextCharge.set(true);
		}

		void log(String line) {
			this.log.add(line);
		}

		void acceptReturns(boolean accept) {
			this.acceptsReturns = accept;
		}

		boolean holds(String order) {
			return this.held.containsKey("held for " + order);
		}

		List<String> log() {
			return this.log;
		}

	}

	static class Audits {

		private final List<AuditEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void on(AuditApplicationEvent event) {
			if (event.getAuditEvent().getType().startsWith("SAGA_")) {
				this.events.add(event.getAuditEvent());
			}
		}

		List<AuditEvent> events() {
			return this.events;
		}

	}

}
