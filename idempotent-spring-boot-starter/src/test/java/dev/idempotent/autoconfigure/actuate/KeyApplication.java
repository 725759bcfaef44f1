package dev.idempotent.autoconfigure.actuate;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.Gate;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * An application whose keys are operated: payments under a lease, transfers under a
 * transaction.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ KeyApplication.Payments.class, KeyApplication.Vouchers.class, KeyApplication.Audits.class })
class KeyApplication {

	@RestController
	static class Payments {

		private final AtomicInteger runs = new AtomicInteger();

		private volatile @Nullable Gate gate;

		@PostMapping("/payments")
		@Idempotent(guarantee = Guarantee.LEASE)
		String pay() throws InterruptedException {
			return run("payment ");
		}

		@PostMapping("/transfers")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@Transactional
		public String transfer() throws InterruptedException {
			return run("transfer ");
		}

		/**
		 * Holds the next run until the gate is opened.
		 */
		Gate holdNextRun() {
			Gate closed = new Gate();
			this.gate = closed;
			return closed;
		}

		int runs() {
			return this.runs.get();
		}

		void reset() {
			this.runs.set(0);
			this.gate = null;
		}

		private String run(String work) throws InterruptedException {
			int run = this.runs.incrementAndGet();
			Gate closed = this.gate;
			this.gate = null;
			if (closed != null) {
				closed.pass();
			}
			return work + run;
		}

	}

	static class Vouchers {

		@Idempotent(name = "welcome", key = "#user", guarantee = Guarantee.LEASE)
		String welcome(Object user) {
			return "voucher";
		}

	}

	static class Audits {

		private final List<AuditEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void on(AuditApplicationEvent event) {
			if (event.getAuditEvent().getType().startsWith("IDEMPOTENCY_")) {
				this.events.add(event.getAuditEvent());
			}
		}

		List<AuditEvent> events() {
			return this.events;
		}

	}

}
