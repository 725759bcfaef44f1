package dev.idempotent.idempotency.web.matrix;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.InputStreamResource;
import org.springframework.core.io.Resource;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.view.RedirectView;

/**
 * Handlers that return a value for Spring MVC to write.
 */
@RestController
class ValueHandlers {

	@PostMapping("/text")
	@Idempotent
	String text() {
		return "plain – text";
	}

	@PostMapping("/echo")
	@Idempotent
	String echo(@RequestBody String body) {
		return body;
	}

	@PostMapping("/entity")
	@Idempotent
	ResponseEntity<Map<String, Object>> entity() {
		return ResponseEntity.accepted().header("X-Shop", "one").body(Map.of("item", "cupón"));
	}

	@PostMapping("/object")
	@Idempotent
	Item object() {
		return new Item("coupon", 3);
	}

	@PostMapping("/nothing")
	@Idempotent
	void nothing() {
	}

	@PostMapping("/empty")
	@Idempotent
	String empty() {
		return "";
	}

	@PostMapping("/no-content")
	@Idempotent
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void noContent() {
	}

	@PostMapping("/created")
	@Idempotent
	ResponseEntity<Item> created() {
		return ResponseEntity.created(URI.create("/items/7")).body(new Item("coupon", 7));
	}

	@PostMapping("/bytes/{size}")
	@Idempotent
	byte[] bytes(@PathVariable int size) {
		return "b".repeat(size).getBytes(StandardCharsets.US_ASCII);
	}

	@PostMapping("/resource")
	@Idempotent
	Resource resource() {
		return new ByteArrayResource("held in memory".getBytes(StandardCharsets.UTF_8));
	}

	@PostMapping("/file")
	@Idempotent
	ResponseEntity<Resource> file() throws IOException {
		Path file = Files.createTempFile("matrix", ".txt");
		file.toFile().deleteOnExit();
		return ResponseEntity.ok()
			.contentType(MediaType.TEXT_PLAIN)
			.header(HttpHeaders.CONTENT_DISPOSITION, "attachment; filename=\"matrix.txt\"")
			.body(new FileSystemResource(Files.writeString(file, "on disk")));
	}

	@PostMapping("/input-stream/{size}")
	@Idempotent
	Resource inputStream(@PathVariable int size) {
		return new InputStreamResource(new ByteArrayInputStream(bytes(size)));
	}

	@PostMapping("/caching")
	@Idempotent
	ResponseEntity<String> caching() {
		return ResponseEntity.ok()
			.eTag("v7")
			.lastModified(Instant.ofEpochSecond(1_700_000_000))
			.cacheControl(CacheControl.noCache().cachePrivate())
			.body("cached");
	}

	@PostMapping("/links")
	@Idempotent
	ResponseEntity<String> links() {
		return ResponseEntity.ok().header("Link", "<a>", "<b>").header("Vary", "X-One", "X-Two").body("linked");
	}

	@GetMapping("/read")
	@Idempotent
	Item read() {
		return new Item("coupon", 1);
	}

	@PutMapping("/put")
	@Idempotent
	Item put() {
		return new Item("coupon", 2);
	}

	@PatchMapping("/patch")
	@Idempotent
	List<Item> patch() {
		return List.of(new Item("coupon", 2), new Item("voucher", 3));
	}

	@DeleteMapping("/delete")
	@Idempotent
	ResponseEntity<Void> delete() {
		return ResponseEntity.noContent().header("X-Deleted", "7").build();
	}

	record Item(String name, int amount) {
	}

	/**
	 * Handlers that redirect the client or forward the request.
	 */
	@Controller
	static class Redirects {

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

}
