package dev.idempotent.outbox.example;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

import com.sun.net.httpserver.HttpExchange;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.LocalHttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The documentation's example runs.
 */
class WebhookPublisherTests {

	private final Queue<String> received = new ConcurrentLinkedQueue<>();

	private final WebhookPublisher publisher = new WebhookPublisher();

	private final LocalHttpServer server = LocalHttpServer.start(this::receive);

	private void receive(HttpExchange exchange) throws IOException {
		try (exchange) {
			String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
			this.received.add(exchange.getRequestHeaders().getFirst("ce-type") + " " + body);
			int status = Integer.parseInt(exchange.getRequestURI().getPath().substring(1));
			exchange.sendResponseHeaders(status, -1);
		}
	}

	@AfterEach
	void stop() {
		this.server.close();
	}

	@Test
	void tellsWhatBecameOfEachEvent() {
		assertThat(this.publisher.publish(List.of(event(204), event(503), event(429), event(410)))).containsExactly(
				new Outcome.Delivered(), new Outcome.Retry("Status 503", null), new Outcome.Retry("Status 429", null),
				new Outcome.Reject("Status 410"));
		assertThat(this.received).hasSize(4).containsOnly("order.created {}");
	}

	@Test
	void tellsThatNobodyAnswers() {
		SerializedEvent event = event(204);
		this.server.close();
		assertThat(this.publisher.publish(List.of(event)))
			.containsExactly(new Outcome.Unavailable("No response", Scope.DESTINATION));
	}

	@Test
	void standsInTheDocumentation() throws IOException {
		String source = Files.readString(Path.of("src/test/java/dev/idempotent/outbox/example/WebhookPublisher.java"),
				StandardCharsets.UTF_8);
		assertThat(Files.readString(Path.of("../docs/outbox-publishers.md"), StandardCharsets.UTF_8))
			.contains(source.substring(source.indexOf("public class")).strip());
	}

	private SerializedEvent event(int status) {
		String url = this.server.url() + "/" + status;
		return new SerializedEvent(UUID.randomUUID(), 1, "webhook:" + url, null, "order.created",
				new byte[] { '{', '}' }, Map.of("content-type", "application/json"), 1);
	}

}
