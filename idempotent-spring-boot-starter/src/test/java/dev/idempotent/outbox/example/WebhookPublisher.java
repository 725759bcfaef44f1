package dev.idempotent.outbox.example;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Posts events to URLs: the topic {@code webhook:https://shop.example/hooks}.
 */
public class WebhookPublisher implements OutboxPublisher {

	private final HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

	@Override
	public String prefix() {
		return "webhook";
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		// Send all requests before waiting for the first response.
		List<CompletableFuture<Outcome>> outcomes = events.stream().map(this::send).toList();
		return outcomes.stream().map(CompletableFuture::join).toList();
	}

	private CompletableFuture<Outcome> send(SerializedEvent event) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(event.destination()))
			.timeout(Duration.ofSeconds(5))
			.POST(BodyPublishers.ofByteArray(event.payload()));
		event.headers().forEach((name, value) -> request.header(name.replace('_', '-'), value));
		return this.client.sendAsync(request.build(), BodyHandlers.discarding()).handle(WebhookPublisher::outcome);
	}

	private static Outcome outcome(@Nullable HttpResponse<?> response, @Nullable Throwable failure) {
		if (response == null) {
			return new Outcome.Unavailable("No response", Scope.DESTINATION);
		}
		int status = response.statusCode();
		if (status < 300) {
			return new Outcome.Delivered();
		}
		boolean later = status >= 500 || status == 408 || status == 429;
		return later ? new Outcome.Retry("Status " + status, null) : new Outcome.Reject("Status " + status);
	}

}
