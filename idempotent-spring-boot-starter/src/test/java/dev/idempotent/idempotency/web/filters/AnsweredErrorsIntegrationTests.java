package dev.idempotent.idempotency.web.filters;

import java.net.http.HttpResponse;

import dev.idempotent.idempotency.web.OnTomcatAndJetty;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A filter of the application may answer an error for which the container would send an
 * error page. The key does not wait for that page.
 */
class AnsweredErrorsIntegrationTests extends OnTomcatAndJetty {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(AnsweringApplication.class, container, "idempotent.on-error=keep");
	}

	@ParameterizedTest
	@CsvSource({ "wraps, /lease", "wraps, /transaction", "wraps, /callable", "wraps, /send-error", "wraps, /completes",
			"flushes, /lease", "flushes, /transaction", "defers, /lease", "defers, /transaction" })
	void areAnsweredAgainByTheFilter(String filter, String path) {
		HttpResponse<byte[]> first = post(filter, path);
		assertThat(first.statusCode()).isEqualTo(404);
		assertThat(text(first)).contains("404");
		int runs = runs();
		HttpResponse<byte[]> second = post(filter, path);
		assertThat(second.statusCode()).isEqualTo(404);
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.headers().allValues("Content-Type")).isEqualTo(first.headers().allValues("Content-Type"));
		assertThat(isReplay(second)).isTrue();
		assertThat(runs()).isEqualTo(runs);
	}

	@ParameterizedTest
	@CsvSource({ "catches, /throws, 500", "catches, /throws-late, 500", "refuses, /throws, 400" })
	void keepTheirKeyWithoutAResponseIfTheFilterCaughtTheException(String filter, String path, int status) {
		assertThat(post(filter, path).statusCode()).isEqualTo(status);
		int runs = runs();
		HttpResponse<byte[]> second = post(filter, path);
		assertThat(second.statusCode()).isEqualTo(409);
		assertThat(text(second)).contains("response-not-kept");
		assertThat(runs()).isEqualTo(runs);
	}

	@ParameterizedTest
	@CsvSource({ "wraps, /unavailable", "catches, /transaction-throws" })
	void releaseTheKeyIfTheyAreNotStored(String filter, String path) {
		for (int i = 0; i < 2; i++) {
			int runs = runs();
			assertThat(post(filter, path).statusCode()).isGreaterThanOrEqualTo(500);
			assertThat(runs()).isEqualTo(runs + 1);
		}
	}

	private int runs() {
		return application.bean(FailingController.class).runs();
	}

	private HttpResponse<byte[]> post(String filter, String path) {
		return super.post(path, AnsweringApplication.FILTER, filter);
	}

}
