package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.Gate;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * Handlers that wait at a gate before they end.
 */
@RestController
class GatedHandlers {

	/**
	 * Spring does not flush a streaming body.
	 */
	private static final byte[] MORE_THAN_THE_CONTAINER_BUFFERS = ("data:first\n" + " \n".repeat(10_000))
		.getBytes(StandardCharsets.US_ASCII);

	private final AtomicInteger runs = new AtomicInteger();

	private final AsyncTaskExecutor executor;

	private volatile Gate gate = new Gate();

	GatedHandlers(AsyncTaskExecutor executor) {
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
