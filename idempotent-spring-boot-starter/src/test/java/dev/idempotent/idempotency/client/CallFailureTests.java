package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import com.sun.net.httpserver.HttpExchange;
import dev.idempotent.testing.LocalHttpServer;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientResponseException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link CallFailure}.
 */
class CallFailureTests {

	@Test
	void findsTheStatusAmongTheCauses() {
		Throwable response = new RestClientResponseException("refused", HttpStatusCode.valueOf(404), "",
				new HttpHeaders(), new byte[0], StandardCharsets.UTF_8);
		assertThat(CallFailure.statusOf(new IllegalStateException(new IOException(response)))).isEqualTo(404);
		assertThat(CallFailure.statusOf(new ResourceAccessException("reset", new IOException()))).isNull();
	}

	@Test
	void recognizesWhatAClientHasThrown() {
		assertThat(CallFailure.isOfClient(new IllegalStateException())).isFalse();
		assertThat(CallFailure.isOfClient(new ResourceAccessException("reset"))).isTrue();
		assertThat(CallFailure.isOfClient(new IllegalStateException(new UncheckedIOException(new IOException()))))
			.isTrue();
	}

	@Test
	void recognizesWhatAStatusHandlerOfAClientHasThrown() {
		try (Downstream service = new Downstream()) {
			service.willAnswer(402);
			Throwable declined = catchThrowable(() -> RestClient.create(service.url())
				.post()
				.retrieve()
				.onStatus(HttpStatusCode::isError, (request, response) -> {
					throw new Declined();
				})
				.toBodilessEntity());
			assertThat(declined).isInstanceOf(Declined.class);
			assertThat(CallFailure.isOfClient(declined)).isTrue();
		}
	}

	@Test
	void readsTheTypeAndTheDetailOfAProblem() {
		try (LocalHttpServer service = LocalHttpServer.start((exchange) -> answer(exchange,
				"{\"errors\":[{\"type\":\"inner\"}],\"type\":\"urn:problem:declined\",\"detail\":\"It is \\\"blocked\\\"\"}"))) {
			Throwable refused = refused(service);
			assertThat(CallFailure.describe(refused)).isEqualTo("422 urn:problem:declined");
			assertThat(CallFailure.wordsOf(refused)).isEqualTo("It is \"blocked\"");
		}
	}

	@Test
	void readsNoTypeAndNoDetailOfAnotherBody() {
		try (LocalHttpServer service = LocalHttpServer
			.start((exchange) -> answer(exchange, "{\"title\":\"\",\"status\":422}"))) {
			Throwable refused = refused(service);
			assertThat(CallFailure.describe(refused)).isEqualTo("422");
			assertThat(CallFailure.wordsOf(refused)).isNull();
		}
		try (LocalHttpServer service = LocalHttpServer.start((exchange) -> answer(exchange, "no JSON"))) {
			Throwable refused = refused(service);
			assertThat(CallFailure.describe(refused)).isEqualTo("422");
			assertThat(CallFailure.wordsOf(refused)).isNull();
		}
	}

	private static Throwable refused(LocalHttpServer service) {
		return catchThrowable(() -> RestClient.create(service.url()).post().retrieve().toBodilessEntity());
	}

	private static void answer(HttpExchange exchange, String body) throws IOException {
		byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().set("Content-Type", "application/problem+json");
		exchange.sendResponseHeaders(422, bytes.length);
		exchange.getResponseBody().write(bytes);
		exchange.close();
	}

	@Test
	void endsWithCausesThatAreACircle() {
		Exception one = new Exception();
		Exception other = new Exception(one);
		one.initCause(other);
		assertThat(CallFailure.statusOf(one)).isNull();
		assertThat(CallFailure.isOfClient(one)).isFalse();
	}

	private static final class Declined extends RuntimeException {

	}

}
