package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

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

}
