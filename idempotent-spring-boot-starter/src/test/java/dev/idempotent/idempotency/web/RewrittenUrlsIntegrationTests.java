package dev.idempotent.idempotency.web;

import java.util.EnumSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.UrlHandlerFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * URLs that another filter rewrites: before this library's filter in the place that Boot
 * gives to a filter without an order, and behind it if it is registered for that.
 */
class RewrittenUrlsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final String key = UUID.randomUUID().toString();

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void neverRunAnAnnotatedHandlerWithoutAKey(CapturedOutput output) {
		try (WebApplication application = WebApplication.start(Application.class, redis)) {
			assertThat(output).containsOnlyOnce("The filters [behind] may run after the idempotency filter");
			assertThat(application.post("/short/", "").statusCode()).isEqualTo(400);
			assertThat(application.post("/long", "").statusCode()).isEqualTo(400);
			assertThat(application.post("/forwarded", "").statusCode()).isEqualTo(500);
			assertThat(application.post("/forwarded/final", "").statusCode()).isEqualTo(500);
			assertThat(application.bean(Unproxied.class).runs).hasValue(0);
			assertThat(application.post("/final", "").statusCode()).isEqualTo(400);
			assertThat(application.bean(Operations.class).runs()).isZero();
			assertThat(application.post("/short/", "", "Idempotency-Key", this.key).statusCode()).isEqualTo(200);
			assertThat(application.post("/called", "").statusCode()).isEqualTo(500);
		}
	}

	@Controller
	static class Callers {

		private final Operations operations;

		Callers(Operations operations) {
			this.operations = operations;
		}

		@PostMapping("/forwarded")
		String forward() {
			return "forward:/short";
		}

		@PostMapping("/forwarded/final")
		String forwardToUnproxied() {
			return "forward:/final";
		}

		@PostMapping("/called")
		@ResponseBody
		String call() {
			return this.operations.runForAMillisecond();
		}

	}

	/**
	 * Cannot be advised, because the class is final.
	 */
	@RestController
	static final class Unproxied {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/final")
		@Idempotent
		int run() {
			return this.runs.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OperationsApplication.class, Callers.class, Unproxied.class })
	static class Application {

		@Bean
		UrlHandlerFilter urlHandlerFilter() {
			return UrlHandlerFilter.trailingSlashHandler("/**").wrapRequest().build();
		}

		@Bean
		ServletContextInitializer behind() {
			return (servletContext) -> servletContext.addFilter("behind", (request, response, chain) -> {
				HttpServletRequest http = (HttpServletRequest) request;
				chain.doFilter(http.getRequestURI().equals("/long") ? toShort(http) : http, response);
			}).addMappingForServletNames(EnumSet.of(DispatcherType.REQUEST), true, "*");
		}

		private static HttpServletRequest toShort(HttpServletRequest request) {
			return new HttpServletRequestWrapper(request) {

				@Override
				public String getRequestURI() {
					return "/short";
				}

			};
		}

	}

}
