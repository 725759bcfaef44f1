package dev.idempotent.autoconfigure.operations;

import dev.idempotent.autoconfigure.outbox.OutboxOperationsAutoConfiguration;
import dev.idempotent.metrics.OutboxMetrics;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.relay.OutboxRelay;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Tells Micrometer what the outbox does.
 */
@AutoConfiguration(after = OutboxOperationsAutoConfiguration.class,
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(JdbcOutboxReader.class)
@ConditionalOnSingleCandidate(MeterRegistry.class)
public final class OutboxMetricsAutoConfiguration {

	@Bean
	OutboxMetrics outboxMetrics(MeterRegistry registry, OutboxTopics topics) {
		return new OutboxMetrics(registry, topics.publishers().stream().map(OutboxPublisher::prefix).toList());
	}

	@Bean
	MeterBinder outboxGauges(JdbcOutboxReader reader, OutboxRelay relay) {
		return OutboxMetrics.gauges(reader::read, relay::queued, () -> relay.unavailablePublishers().size());
	}

}
