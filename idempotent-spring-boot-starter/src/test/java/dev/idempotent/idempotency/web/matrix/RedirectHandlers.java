package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.servlet.view.RedirectView;

/**
 * Handlers that send the client, or the request, elsewhere.
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
