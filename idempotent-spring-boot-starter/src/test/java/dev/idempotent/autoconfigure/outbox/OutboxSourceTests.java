package dev.idempotent.autoconfigure.outbox;

import java.net.URI;
import java.util.List;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.RecordingPublisher;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The source of CloudEvents, which must be a URI reference.
 */
class OutboxSourceTests {

	@Test
	void isTheEncodedNamespace() {
		assertThat(source("idempotent.namespace=my shop: 100% für alle"))
			.isEqualTo("/my%20shop:%20100%25%20f%C3%BCr%20alle");
		assertThat(source("idempotent.namespace=my shop", "idempotent.outbox.source=urn:shop")).isEqualTo("urn:shop");
	}

	private static String source(String... properties) {
		try (ConfigurableApplicationContext context = OutboxApplication.start(List.of(properties))) {
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class)).executeWithoutResult(
					(status) -> context.getBean(Outbox.class).append(OutboxEvent.of("order.created", "payload")));
			RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
			await().until(() -> publisher.published().size() == 1);
			return URI.create(publisher.published().get(0).headers().getOrDefault("ce_source", "")).toString();
		}
	}

}
