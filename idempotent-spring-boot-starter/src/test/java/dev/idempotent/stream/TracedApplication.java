package dev.idempotent.stream;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.actuate.ImportOperations;
import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.testing.OpenTelemetryConfiguration;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * An application with an outbox, stream listeners and OpenTelemetry, as Boot's tracing
 * module configures it.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
		TransactionAutoConfiguration.class, ObservationAutoConfiguration.class })
@ImportMethods
@ImportOutbox
@ImportOperations
@Import(OpenTelemetryConfiguration.class)
class TracedApplication {

	@Bean
	PropagatingReceiverTracingObservationHandler<?> receiverHandler(Tracer tracer, Propagator propagator) {
		return new PropagatingReceiverTracingObservationHandler<>(tracer, propagator);
	}

}
