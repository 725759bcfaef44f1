package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

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
