package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.io.UncheckedIOException;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;

/**
 * Handlers that end with an error status or an exception.
 */
@RestController
class FailingHandlers {

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
			return ProblemDetail.forStatusAndDetail(HttpStatus.UNPROCESSABLE_CONTENT, String.valueOf(ex.getMessage()));
		}

	}

}
