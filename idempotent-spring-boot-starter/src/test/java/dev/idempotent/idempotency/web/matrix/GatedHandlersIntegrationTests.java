package dev.idempotent.idempotency.web.matrix;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

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
		.of(() -> WebApplication.start(Application.class, redis, "server.shutdown=immediate"));

	private final Handlers handlers = application.bean(Handlers.class);

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

	/**
	 * Handlers that wait at a gate before they end.
	 */
	@RestController
	static class Handlers {

		/**
		 * Spring does not flush a streaming body.
		 */
		private static final byte[] MORE_THAN_THE_CONTAINER_BUFFERS = ("data:first\n" + " \n".repeat(10_000))
			.getBytes(StandardCharsets.US_ASCII);

		private final AtomicInteger runs = new AtomicInteger();

		private final AsyncTaskExecutor executor;

		private volatile Gate gate = new Gate();

		Handlers(AsyncTaskExecutor executor) {
			this.executor = executor;
		}

		Gate closeGate() {
			this.gate = new Gate();
			return this.gate;
		}

		int runs() {
			return this.runs.get();
		}

		@PostMapping("/gated/text/{size}")
		@Idempotent
		String text(@PathVariable int size) throws InterruptedException {
			return pass("t".repeat(size));
		}

		@PostMapping("/gated/callable/{size}")
		@Idempotent
		Callable<String> callable(@PathVariable int size) {
			return () -> pass("c".repeat(size));
		}

		@PostMapping("/gated/deferred/{size}")
		@Idempotent
		DeferredResult<String> deferred(@PathVariable int size) {
			DeferredResult<String> result = new DeferredResult<>();
			this.executor.execute(() -> result.setResult(passUnchecked("d".repeat(size))));
			return result;
		}

		@PostMapping("/gated/sse")
		@Idempotent
		SseEmitter sse() {
			return events();
		}

		@PostMapping("/gated/streaming-body")
		@Idempotent
		StreamingResponseBody streamingBody() {
			return (out) -> {
				out.write(MORE_THAN_THE_CONTAINER_BUFFERS);
				out.write(passUnchecked("data:second\n\n").getBytes(StandardCharsets.US_ASCII));
			};
		}

		@PostMapping("/gated/events-by-hand")
		@Idempotent
		void eventsByHand(HttpServletResponse response) throws Exception {
			response.setContentType("text/event-stream");
			response.getWriter().write("data:first\n\n");
			response.flushBuffer();
			response.getWriter().write(pass("data:second\n\n"));
		}

		@PostMapping("/unannotated/sse")
		SseEmitter unannotatedSse() {
			return events();
		}

		@PostMapping("/unannotated/upload")
		String unannotatedUpload(InputStream body) throws Exception {
			int first = body.read();
			pass("");
			long rest = body.transferTo(OutputStream.nullOutputStream());
			return first + "+" + rest;
		}

		private SseEmitter events() {
			SseEmitter emitter = new SseEmitter();
			this.executor.execute(() -> {
				try {
					emitter.send("first");
					emitter.send(passUnchecked("second"));
					emitter.complete();
				}
				catch (IOException ex) {
					// The container may have ended it already.
				}
			});
			return emitter;
		}

		private String passUnchecked(String text) {
			try {
				return pass(text);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private String pass(String text) throws InterruptedException {
			this.runs.incrementAndGet();
			this.gate.pass();
			return text;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application {

	}

}
