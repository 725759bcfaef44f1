package dev.idempotent.idempotency.web.matrix;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a client observes while a handler is still running.
 */
class GatedHandlersIntegrationTests {

	private static final int TOO_LONG_TO_KEEP = 8_000_000;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(GatedApplication.class, redis, "server.shutdown=immediate"));

	private final GatedHandlers handlers = application.bean(GatedHandlers.class);

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@ValueSource(strings = { "/gated/sse", "/gated/streaming-body", "/gated/events-by-hand", "/unannotated/sse" })
	void streamsWhileTheHandlerRuns(String path) throws Exception {
		Gate gate = this.handlers.closeGate();
		try (Socket client = send(path)) {
			BufferedReader answer = new BufferedReader(
					new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
			assertThat(readUntil(answer, "data:first")).isTrue();
			gate.open();
			assertThat(readUntil(answer, "data:second")).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/gated/callable/5", "/gated/deferred/5", "/gated/sse", "/gated/streaming-body" })
	void answers409WhileTheFirstRequestRunsAsynchronously(String path) throws Exception {
		int before = this.handlers.runs();
		Gate gate = this.handlers.closeGate();
		try (Socket client = send(path)) {
			gate.awaitEntry();
			Answer duplicate = post(path);
			assertThat(duplicate.status()).isEqualTo(409);
			assertThat(duplicate.body()).contains("in-progress");
			gate.open();
			client.getInputStream().readAllBytes();
		}
		assertThat(this.handlers.runs() - before).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/gated/text/500000", "/gated/callable/500000", "/gated/deferred/500000" })
	void storesTheResponseForAClientThatDisconnected(String path) throws Exception {
		int before = this.handlers.runs();
		hangUpWhileRunning(path);
		await().until(() -> post(path).isReplayed());
		assertThat(post(path).body()).hasSize(500_000);
		assertThat(this.handlers.runs() - before).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/gated/text/" + TOO_LONG_TO_KEEP, "/gated/callable/" + TOO_LONG_TO_KEEP, "/gated/sse",
			"/gated/streaming-body" })
	void neverRunsAgainForAClientThatDisconnectedFromAResponseThatIsNotStored(String path) throws Exception {
		int before = this.handlers.runs();
		hangUpWhileRunning(path);
		await().until(() -> !post(path).body().contains("in-progress"));
		assertThat(post(path).body()).contains("response-not-kept");
		assertThat(this.handlers.runs() - before).isOne();
	}

	@Test
	void doesNotReadAnUploadToAnotherHandler() throws Exception {
		Gate gate = this.handlers.closeGate();
		byte[] part = new byte[1024 * 1024];
		try (Socket client = connect()) {
			OutputStream out = client.getOutputStream();
			out.write(head("/unannotated/upload", 50L * part.length));
			out.write(part);
			out.flush();
			gate.awaitEntry();
			gate.open();
			for (int i = 1; i < 50; i++) {
				out.write(part);
			}
			assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
				.endsWith("0+" + (50L * part.length - 1));
		}
	}

	private void hangUpWhileRunning(String path) throws Exception {
		Gate gate = this.handlers.closeGate();
		try (Socket client = send(path)) {
			gate.awaitEntry();
			client.setOption(StandardSocketOptions.SO_LINGER, 0);
		}
		gate.open();
	}

	private Answer post(String path) {
		return Answer.of(application.post(path, "", "Idempotency-Key", this.key));
	}

	private Socket send(String path) throws IOException {
		Socket client = connect();
		client.getOutputStream().write(head(path, 0));
		client.getOutputStream().flush();
		return client;
	}

	private static Socket connect() throws IOException {
		Socket client = new Socket(InetAddress.getLoopbackAddress(), application.request("/").build().uri().getPort());
		client.setSoTimeout(60_000);
		return client;
	}

	private byte[] head(String path, long length) {
		return ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: " + this.key
				+ "\r\nContent-Type: application/json\r\nContent-Length: " + length + "\r\n\r\n")
			.getBytes(StandardCharsets.US_ASCII);
	}

	private static boolean readUntil(BufferedReader answer, String line) {
		return answer.lines().anyMatch(line::equals);
	}

}
