package dev.idempotent.idempotency.web.transaction;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

import dev.idempotent.testing.Gate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A redirect is sent after the commit, or never.
 */
class RedirectsIntegrationTests extends AbstractPostgresHandlerTests {

	private final String name = "work-" + UUID.randomUUID();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithPostgres(TransactionApplication.class, container, "server.forward-headers-strategy=framework");
	}

	@AfterEach
	void openGate() {
		application.bean(RedirectingController.class).holdUpAt(null);
	}

	@ParameterizedTest
	@CsvSource({ "by-name, 302", "by-response, 303" })
	void areSentAndReplayedAsTheContainerSendsThem(String handler, int status) {
		HttpResponse<byte[]> first = post(path(handler + "/commits"));
		HttpResponse<byte[]> retry = post(path(handler + "/commits"));
		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(first.headers().allValues("Location")).containsExactly(thanks());
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(retry.headers().allValues("Location")).containsExactly(thanks());
		assertThat(isReplay(retry)).isTrue();
		assertThat(rows()).isOne();
	}

	@Test
	void useTheForwardedHost() {
		HttpResponse<byte[]> first = post(path("by-name/commits"), "X-Forwarded-Host", "shop.example",
				"X-Forwarded-Proto", "https");
		assertThat(first.headers().allValues("Location")).containsExactly("https://shop.example/thanks");
	}

	@ParameterizedTest
	@CsvSource({ "by-name/fails, 402", "by-response/fails, 402", "by-response/throws-after, 402", "by-name/breaks, 500",
			"by-response/breaks, 500" })
	void areNeverSentForWorkThatIsRolledBack(String path, int status) {
		HttpResponse<byte[]> first = post(path(path));
		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(first.headers().firstValue("Location")).isEmpty();
		assertThat(rows()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "commits, 302, placed", "fails, 402, none" })
	void showWhatTheyFlashOnlyIfTheWorkIsCommitted(String end, int status, String shown) {
		HttpResponse<byte[]> response = post(path("by-flash/" + end));
		assertThat(response.statusCode()).isEqualTo(status);
		String session = response.headers().firstValue("Set-Cookie").orElseThrow().replaceAll(";.*", "");
		HttpResponse<byte[]> next = application
			.send(application.request("/flashed").header("Cookie", session).GET().build());
		assertThat(new String(next.body(), StandardCharsets.UTF_8)).isEqualTo(shown);
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 202, 302, 303 })
	void areSentLikeAnyStatusThatIsNoErrorByWayOfOne(int status) {
		assertThat(post("/sent/" + status + "?name=" + this.name).statusCode()).isEqualTo(status);
		HttpResponse<byte[]> retry = post("/sent/" + status + "?name=" + this.name);
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(isReplay(retry)).isTrue();
		assertThat(rows()).isOne();
	}

	@Test
	void giveWayToTheErrorOfAFailureAfterThem() {
		HttpResponse<byte[]> response = post("/sent/201?name=" + this.name);
		assertThat(response.statusCode()).isEqualTo(402);
		assertThat(rows()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "by-name", "by-response" })
	void areSentAfterTheCommit(String handler) throws Exception {
		Gate gate = new Gate();
		application.bean(RedirectingController.class).holdUpAt(gate);
		try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port())) {
			client.getOutputStream().write(head(path(handler + "/commits")));
			client.getOutputStream().flush();
			gate.awaitEntry();
			InputStream answer = client.getInputStream();
			client.setSoTimeout(200);
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(answer::read);
			client.setSoTimeout(60_000);
			gate.open();
			assertThat(new String(answer.readAllBytes(), StandardCharsets.US_ASCII)).contains("Location: " + thanks());
		}
		assertThat(rows()).isOne();
	}

	private String thanks() {
		return this.container.equals("tomcat") ? "http://127.0.0.1:" + port() + "/thanks" : "/thanks";
	}

	private byte[] head(String path) {
		return ("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port() + "\r\nConnection: close\r\nIdempotency-Key: "
				+ this.key + "\r\nContent-Length: 0\r\n\r\n")
			.getBytes(StandardCharsets.US_ASCII);
	}

	private String path(String path) {
		return "/redirects/" + path + "?name=" + this.name;
	}

	private static int port() {
		return application.request("/").build().uri().getPort();
	}

	private int rows() {
		return application.bean(Works.class).count(this.name);
	}

}
