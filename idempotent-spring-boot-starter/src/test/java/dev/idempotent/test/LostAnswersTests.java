package dev.idempotent.test;

import java.net.SocketTimeoutException;

import org.junit.jupiter.api.Test;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.web.client.ExpectedCount;
import org.springframework.test.web.client.MockRestServiceServer;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.springframework.test.web.client.match.MockRestRequestMatchers.method;
import static org.springframework.test.web.client.response.MockRestResponseCreators.withSuccess;

/**
 * Tests for {@link LostAnswers}.
 */
class LostAnswersTests {

	private final LostAnswers answers = new LostAnswers();

	private final RestClient.Builder builder = RestClient.builder().requestInterceptor(this.answers);

	private final MockRestServiceServer server = MockRestServiceServer.bindTo(this.builder).build();

	private final RestClient client = this.builder.build();

	@Test
	void losesAsManyAnswersAsItIsTold() {
		expectRequests(4);
		assertThat(post()).isEqualTo("done");
		this.answers.lose(2);
		assertThat(this.answers.remaining()).isEqualTo(2);
		assertLost();
		assertLost();
		assertThat(this.answers.remaining()).isZero();
		assertThat(post()).isEqualTo("done");
		this.server.verify();
	}

	@Test
	void losesNoMoreOnRequest() {
		expectRequests(1);
		this.answers.lose(5);
		this.answers.lose(0);
		assertThat(post()).isEqualTo("done");
	}

	private void expectRequests(int number) {
		this.server.expect(ExpectedCount.times(number), method(HttpMethod.POST))
			.andRespond(withSuccess("done", MediaType.TEXT_PLAIN));
	}

	private void assertLost() {
		assertThatExceptionOfType(ResourceAccessException.class).isThrownBy(this::post)
			.withCauseInstanceOf(SocketTimeoutException.class)
			.withMessageContaining("LostAnswers has lost the answer to POST /payments");
	}

	private String post() {
		return this.client.post().uri("http://shop.test/payments").retrieve().requiredBody(String.class);
	}

}
