package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * Handlers whose response is meant to be read as it arrives.
 */
@RestController
class StreamingHandlers {

	private final AsyncTaskExecutor executor;

	StreamingHandlers(AsyncTaskExecutor executor) {
		this.executor = executor;
	}

	@PostMapping("/streaming-body")
	@Idempotent
	StreamingResponseBody streamingBody() {
		return (out) -> out.write("streamed".getBytes(StandardCharsets.US_ASCII));
	}

	@PostMapping("/streaming-body/entity")
	@Idempotent
	ResponseEntity<StreamingResponseBody> streamingEntity() {
		return ResponseEntity.accepted()
			.contentType(MediaType.TEXT_PLAIN)
			.body((out) -> out.write("streamed".getBytes(StandardCharsets.US_ASCII)));
	}

	@PostMapping("/sse")
	@Idempotent
	SseEmitter sse() {
		return sendAll(new SseEmitter(), List.of("one", "two"));
	}

	@PostMapping("/emitter")
	@Idempotent
	ResponseBodyEmitter emitter() {
		return sendAll(new ResponseBodyEmitter(), List.of("one", "two"));
	}

	@PostMapping("/emitter/ndjson")
	@Idempotent
	ResponseEntity<ResponseBodyEmitter> ndjsonEmitter() {
		return ResponseEntity.ok()
			.contentType(MediaType.APPLICATION_NDJSON)
			.body(sendAll(new ResponseBodyEmitter(), List.of("{}\n", "{}\n")));
	}

	@PostMapping("/events")
	@Idempotent
	void eventsByHand(HttpServletResponse response) throws IOException {
		response.setContentType(MediaType.TEXT_EVENT_STREAM_VALUE);
		response.getWriter().write("data: by hand\n\n");
	}

	private <E extends ResponseBodyEmitter> E sendAll(E emitter, List<String> items) {
		this.executor.execute(() -> {
			try {
				for (String item : items) {
					emitter.send(item);
				}
				emitter.complete();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
		return emitter;
	}

}
