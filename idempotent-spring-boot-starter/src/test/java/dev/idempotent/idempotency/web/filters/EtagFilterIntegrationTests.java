package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.filter.ShallowEtagHeaderFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Responses behind Spring's filter for ETags, which keeps them until its chain returns.
 */
class EtagFilterIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(Application.class, container);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/body", "/future", "/async" })
	void areSentAndReplayedWhole(String path) {
		HttpResponse<byte[]> first = post(path);
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(first)).isEqualTo("done");
		HttpResponse<byte[]> retry = post(path);
		assertThat(isReplay(retry)).isTrue();
		assertThat(WebApplication.text(retry)).isEqualTo("done");
	}

	@Controller
	static class Handlers {

		@Idempotent
		@PostMapping("/body")
		@ResponseBody
		String body() {
			return "done";
		}

		@Idempotent
		@PostMapping("/future")
		@ResponseBody
		CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(() -> "done");
		}

		@Idempotent
		@PostMapping("/async")
		void async(HttpServletRequest request, HttpServletResponse response) {
			AsyncContext context = request.startAsync();
			context.start(() -> {
				try {
					context.getResponse().getWriter().print("done");
					context.complete();
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application {

		@Bean
		ShallowEtagHeaderFilter etagFilter() {
			return new ShallowEtagHeaderFilter();
		}

	}

}
