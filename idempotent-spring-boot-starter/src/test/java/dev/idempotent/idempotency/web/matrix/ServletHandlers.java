package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * Handlers that write to the servlet response themselves.
 */
@RestController
class ServletHandlers {

	private static final String TEXT = "crème brûlée";

	@PostMapping("/stream")
	@Idempotent
	void stream(HttpServletResponse response) throws IOException {
		response.setContentType("application/octet-stream");
		response.getOutputStream().write(0);
		response.getOutputStream().write(new byte[] { 1, 2, 3 });
	}

	@PostMapping("/writer")
	@Idempotent
	void writer(HttpServletResponse response) throws IOException {
		response.getWriter().write("creme brulee");
	}

	@PostMapping("/writer/type")
	@Idempotent
	void writerOfType(@RequestParam String type, HttpServletResponse response) throws IOException {
		response.setContentType(type);
		response.getWriter().write(TEXT);
	}

	@PostMapping("/writer/encoding")
	@Idempotent
	void writerOfEncoding(@RequestParam String encoding, HttpServletResponse response) throws IOException {
		response.setContentType("text/plain");
		response.setCharacterEncoding(encoding);
		response.getWriter().write(TEXT);
	}

	@PostMapping("/writer/late-type")
	@Idempotent
	void writerBeforeItsType(HttpServletResponse response) throws IOException {
		PrintWriter writer = response.getWriter();
		response.setContentType("text/html;charset=UTF-8");
		writer.write("<p>cr\u00e8me</p>");
	}

	@PostMapping("/writer/flushed")
	@Idempotent
	void flushedWriter(HttpServletResponse response) throws IOException {
		response.setContentType("text/plain;charset=UTF-8");
		response.getWriter().write(TEXT);
		response.getWriter().flush();
		response.getWriter().write(TEXT);
	}

	@PostMapping("/writer/closed")
	@Idempotent
	void closedWriter(HttpServletResponse response) throws IOException {
		response.setContentType("text/plain;charset=UTF-8");
		try (PrintWriter writer = response.getWriter()) {
			writer.write(TEXT);
		}
	}

	@PostMapping("/flushed-midway")
	@Idempotent
	void flushedMidway(HttpServletResponse response) throws IOException {
		response.setHeader("X-Before", "1");
		response.getOutputStream().write(1);
		response.flushBuffer();
		response.getOutputStream().write(2);
	}

	@PostMapping("/header-after-body")
	@Idempotent
	void headerAfterBody(HttpServletResponse response) throws IOException {
		response.getOutputStream().write(1);
		response.setHeader("X-After", "1");
		response.setStatus(HttpServletResponse.SC_ACCEPTED);
	}

	@PostMapping("/reset")
	@Idempotent
	void reset(HttpServletResponse response) throws IOException {
		response.setStatus(HttpServletResponse.SC_ACCEPTED);
		response.setHeader("X-Gone", "1");
		response.getWriter().write("gone");
		response.reset();
		response.getOutputStream().write("kept".getBytes(StandardCharsets.US_ASCII));
	}

	@PostMapping("/reset-buffer")
	@Idempotent
	void resetBuffer(HttpServletResponse response) throws IOException {
		response.setHeader("X-Kept", "1");
		response.getWriter().write("gone");
		response.resetBuffer();
		response.getWriter().write("kept");
	}

	@PostMapping("/length/{length}")
	@Idempotent
	void length(@PathVariable int length, HttpServletResponse response) throws IOException {
		response.setContentLength(length);
		response.getOutputStream().write(new byte[length]);
	}

	@PostMapping("/unstated-length/{length}")
	@Idempotent
	void unstatedLength(@PathVariable int length, HttpServletResponse response) throws IOException {
		response.getOutputStream().write(new byte[length / 2]);
		response.getOutputStream().write(new byte[length - length / 2]);
	}

	/**
	 * Handlers whose response is meant to be read as it arrives.
	 */
	@RestController
	static class Streams {

		private final AsyncTaskExecutor executor;

		Streams(AsyncTaskExecutor executor) {
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

	/**
	 * Handlers that end with an error status or an exception.
	 */
	@RestController
	static class Failures {

		@PostMapping("/entity/{status}")
		@Idempotent
		ResponseEntity<String> entity(@PathVariable int status) {
			return ResponseEntity.status(status).header("X-Status", String.valueOf(status)).body("answer");
		}

		@PostMapping("/send-error/{status}")
		@Idempotent
		void sendError(@PathVariable int status, HttpServletResponse response) throws IOException {
			response.setHeader("X-Status", String.valueOf(status));
			response.getWriter().write("discarded");
			response.sendError(status);
			response.getWriter().write("discarded");
		}

		@PostMapping("/throw-status/{status}")
		@Idempotent
		void throwStatus(@PathVariable int status) {
			throw new ResponseStatusException(HttpStatus.valueOf(status), "with a reason");
		}

		@PostMapping("/throw-handled")
		@Idempotent
		void throwHandled() {
			throw new UnsupportedOperationException("handled");
		}

		@PostMapping("/throw")
		@Idempotent
		void throwUnhandled() {
			throw new IllegalStateException("unhandled");
		}

		@PostMapping("/write-and-throw")
		@Idempotent
		void writeAndThrow(HttpServletResponse response) throws IOException {
			response.setHeader("X-Before", "1");
			response.getWriter().write("discarded");
			throw new UncheckedIOException(new IOException("unhandled"));
		}

		@RestControllerAdvice
		static class Advice {

			@ExceptionHandler
			ProblemDetail problem(UnsupportedOperationException ex) {
				return ProblemDetail.forStatusAndDetail(HttpStatus.UNPROCESSABLE_CONTENT,
						String.valueOf(ex.getMessage()));
			}

		}

	}

}
