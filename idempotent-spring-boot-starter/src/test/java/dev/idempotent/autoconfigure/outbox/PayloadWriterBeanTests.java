package dev.idempotent.autoconfigure.outbox;

import java.nio.charset.StandardCharsets;
import java.util.Map;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.PayloadWriter;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the {@link PayloadWriter} bean of an application.
 */
class PayloadWriterBeanTests {

	@Test
	void replacesJackson() {
		OutboxApplication.with(Writer.class)
			.withPropertyValues("idempotent.outbox.relay.enabled=false")
			.run((context) -> {
				Outbox outbox = context.getBean(Outbox.class);
				context.getBean(TransactionTemplate.class)
					.executeWithoutResult((status) -> outbox.append(OutboxEvent.of("order.created", Map.of())));
				assertThat(context.getBean(JdbcTemplate.class)
					.queryForObject("select payload from outbox_event", byte[].class)).asString()
					.isEqualTo("\"written by the application\"");
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class Writer {

		@Bean
		PayloadWriter payloadWriter() {
			return (payload) -> "\"written by the application\"".getBytes(StandardCharsets.UTF_8);
		}

	}

}
