package dev.idempotent.idempotency.web.filters;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A replay has the headers of the handler and of the filters, each once.
 */
class ReplayedHeadersIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(App.class, container);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/lease", "/transaction" })
	void areThoseOfTheFirstResponse(String path) {
		HttpResponse<byte[]> first = post(path);
		HttpResponse<byte[]> second = post(path);
		assertThat(isReplay(second)).isTrue();
		assertThat(text(second)).isEqualTo(text(first));
		assertThat(headers(second)).isEqualTo(headers(first)).containsEntry("X-Frame", List.of("inner"));
	}

	@Test
	void areThoseOfTheErrorPage() {
		HttpResponse<byte[]> first = post("/error-page");
		HttpResponse<byte[]> second = post("/error-page");
		assertThat(isReplay(second)).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.headers().allValues("X-Frame")).containsExactly("inner");
		assertThat(second.headers().allValues("Vary").contains("Accept"))
			.isEqualTo(first.headers().allValues("Vary").contains("Accept"));
	}

	@Test
	void areCompressedOnceByAFilter() throws IOException {
		HttpResponse<byte[]> first = post("/text", "Accept-Encoding", "gzip");
		HttpResponse<byte[]> second = post("/text", "Accept-Encoding", "gzip");
		assertThat(isReplay(second)).isTrue();
		assertThat(second.headers().allValues("Content-Encoding")).containsExactly("gzip");
		assertThat(headers(second)).isEqualTo(headers(first));
		assertThat(new GZIPInputStream(new ByteArrayInputStream(second.body()))).hasContent("run");

		HttpResponse<byte[]> plain = post("/text");
		assertThat(plain.headers().allValues("Content-Encoding")).isEmpty();
		assertThat(text(plain)).isEqualTo("run");
	}

	private static Map<String, List<String>> headers(HttpResponse<byte[]> response) {
		Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		headers.putAll(response.headers().map());
		headers.keySet().removeAll(List.of("Date", "Idempotent-Replayed", "Transfer-Encoding", "Content-Length"));
		return headers;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class App {

		@Bean
		FilterRegistrationBean<Filter> adding() {
			return new FilterRegistrationBean<>((request, response, chain) -> {
				HttpServletResponse http = (HttpServletResponse) response;
				http.addHeader("Vary", "Origin");
				http.setHeader("Cache-Control", "no-store");
				http.setHeader("X-Frame", "outer");
				http.setHeader("X-Same", "same");
				chain.doFilter(request, response);
			});
		}

		@Bean
		FilterRegistrationBean<Filter> zipping() {
			return new FilterRegistrationBean<>((request, response, chain) -> {
				if (!"gzip".equals(((HttpServletRequest) request).getHeader("Accept-Encoding"))) {
					chain.doFilter(request, response);
					return;
				}
				ZippingResponse zipping = new ZippingResponse((HttpServletResponse) response);
				chain.doFilter(request, zipping);
				zipping.finish();
			});
		}

	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		@Idempotent
		@PostMapping("/lease")
		ResponseEntity<String> lease() {
			return answer();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/transaction")
		ResponseEntity<String> transaction() {
			return answer();
		}

		@Idempotent
		@PostMapping("/error-page")
		void sendError(HttpServletResponse response) throws IOException {
			response.setHeader("X-Frame", "inner");
			response.addHeader("Vary", "Accept");
			response.sendError(404, "run " + this.runs.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/text")
		void text(HttpServletResponse response) throws IOException {
			response.setContentType("text/plain");
			response.getOutputStream().print("run");
		}

		private ResponseEntity<String> answer() {
			return ResponseEntity.status(201)
				.header("Vary", "Accept-Language")
				.header("Cache-Control", "private, max-age=60")
				.header("X-Frame", "inner")
				.header("X-Same", "same")
				.body("run " + this.runs.incrementAndGet());
		}

	}

	/**
	 * Compresses the body if its content type is text, as such filters do.
	 */
	static class ZippingResponse extends HttpServletResponseWrapper {

		private boolean zips;

		private @Nullable GZIPOutputStream zipped;

		ZippingResponse(HttpServletResponse response) {
			super(response);
		}

		@Override
		public void setContentType(String type) {
			super.setContentType(type);
			if (type.startsWith("text/") && !this.zips) {
				this.zips = true;
				addHeader("Vary", "Accept-Encoding");
				addHeader("Content-Encoding", "gzip");
			}
		}

		@Override
		public void setContentLength(int length) {
			// The compressed length is different.
		}

		@Override
		public ServletOutputStream getOutputStream() throws IOException {
			if (!this.zips) {
				return super.getOutputStream();
			}
			GZIPOutputStream out = new GZIPOutputStream(super.getOutputStream());
			this.zipped = out;
			return new ServletOutputStream() {

				@Override
				public boolean isReady() {
					return true;
				}

				@Override
				public void setWriteListener(WriteListener listener) {
					throw new IllegalStateException();
				}

				@Override
				public void write(int b) throws IOException {
					out.write(b);
				}

			};
		}

		void finish() throws IOException {
			if (this.zipped != null) {
				this.zipped.finish();
			}
		}

	}

}
