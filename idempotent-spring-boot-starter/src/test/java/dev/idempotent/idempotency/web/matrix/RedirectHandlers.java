package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.servlet.view.RedirectView;

/**
 * Handlers that redirect the client or forward the request.
 */
@Controller
class RedirectHandlers {

	@PostMapping("/redirect-view")
	@Idempotent
	RedirectView redirectView() {
		return new RedirectView("/read?from=view");
	}

	@PostMapping("/redirect-name")
	@Idempotent
	String redirectName() {
		return "redirect:/read";
	}

	@PostMapping("/send-redirect")
	@Idempotent
	void sendRedirect(HttpServletResponse response) throws IOException {
		response.sendRedirect("/read?from=servlet");
	}

	@PostMapping("/write-and-redirect")
	@Idempotent
	void writeAndRedirect(HttpServletResponse response) throws IOException {
		response.getWriter().write("before");
		response.sendRedirect("/read");
		response.getWriter().write("after");
	}

	@PostMapping("/redirect/{status}")
	@Idempotent
	void redirectWithStatus(@PathVariable int status, HttpServletResponse response) throws IOException {
		response.setHeader("X-Before", "1");
		response.sendRedirect("../read", status);
		response.setHeader("X-After", "1");
		response.setStatus(HttpServletResponse.SC_OK);
	}

	@PostMapping("/redirect-and-keep/{status}")
	@Idempotent
	void redirectAndKeepTheBody(@PathVariable int status, HttpServletResponse response) throws IOException {
		response.getWriter().write("kept");
		if (status == HttpServletResponse.SC_FOUND) {
			response.sendRedirect("https://example.org/read", false);
		}
		else {
			response.sendRedirect("read", status, false);
		}
	}

	@PostMapping("/redirect-and-return")
	@Idempotent
	ResponseEntity<String> redirectAndReturn(HttpServletResponse response) throws IOException {
		response.sendRedirect("/read");
		return ResponseEntity.accepted().header("X-After", "1").body("not written");
	}

	@PostMapping("/forward-name/{handler}")
	@Idempotent
	String forwardName(HttpServletRequest request) {
		return "forward:" + target(request);
	}

	@PostMapping("/forward-by-dispatcher/{handler}")
	@Idempotent
	void forwardByDispatcher(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		request.getRequestDispatcher(target(request)).forward(request, response);
	}

	@PostMapping("/include")
	@Idempotent
	void include(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
		response.getOutputStream().print("before ");
		request.getRequestDispatcher("/text").include(request, response);
		response.getOutputStream().print(" after");
	}

	private static String target(HttpServletRequest request) {
		return request.getRequestURI().substring(request.getRequestURI().lastIndexOf('/'));
	}

}
