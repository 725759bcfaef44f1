package dev.idempotent.autoconfigure.actuate;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.OpenTelemetryConfiguration;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * An application with the tracer of OpenTelemetry.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ OpenTelemetryConfiguration.class, TracedApplication.Orders.class })
class TracedApplication {

	@Bean
	ObservationHandler<?> tracing(Tracer tracer, Propagator propagator) {
		return new ObservationHandler.FirstMatchingCompositeObservationHandler(
				new PropagatingReceiverTracingObservationHandler<>(tracer, propagator),
				new DefaultTracingObservationHandler(tracer));
	}

	@Bean
	Calls calls() {
		return new Calls();
	}

	@RestController
	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/lease")
		@Idempotent(name = "orders")
		String underLease() {
			return "run " + this.runs.incrementAndGet();
		}

		@PostMapping("/transaction")
		@Idempotent(name = "payments", guarantee = Guarantee.TRANSACTION)
		String inTransaction() {
			return "run " + this.runs.incrementAndGet();
		}

		@PostMapping("/callable")
		@Idempotent(name = "reports")
		Callable<String> onAnotherThread() {
			return () -> "run " + this.runs.incrementAndGet();
		}

		@PostMapping("/future")
		@Idempotent(name = "forecasts")
		CompletableFuture<String> later() {
			return CompletableFuture.supplyAsync(() -> "run " + this.runs.incrementAndGet());
		}

	}

	static class Calls {

		private final AtomicInteger runs = new AtomicInteger();

		@Idempotent(name = "ship", key = "#id")
		public int underLease(String id) {
			return this.runs.incrementAndGet();
		}

		@Transactional
		@Idempotent(name = "charge", key = "#id", guarantee = Guarantee.TRANSACTION)
		public int inTransaction(String id) {
			return this.runs.incrementAndGet();
		}

	}

}
