package dev.idempotent.idempotency.web;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.filter.UrlHandlerFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * URLs that another filter rewrites, in the place that Boot gives to a filter without an
 * order.
 */
class RewrittenUrlsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void neverRunAnAnnotatedHandlerWithoutAKey() {
		try (WebApplication application = WebApplication.start(Application.class, redis)) {
			assertThat(application.post("/short/", "").statusCode()).isEqualTo(500);
			assertThat(application.post("/forwarded", "").statusCode()).isEqualTo(500);
			assertThat(application.bean(Operations.class).runs()).isZero();
			assertThat(application.post("/called", "").statusCode()).isEqualTo(200);
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

		@PostMapping("/called")
		@ResponseBody
		String call() {
			return this.operations.runForAMillisecond();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OperationsApplication.class, Callers.class })
	static class Application {

		@Bean
		UrlHandlerFilter urlHandlerFilter() {
			return UrlHandlerFilter.trailingSlashHandler("/**").wrapRequest().build();
		}

	}

}
