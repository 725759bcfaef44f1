package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A failure of the commit is answered as if the handler had thrown it.
 */
@ParameterizedClass
@ValueSource(strings = { "tomcat", "jetty" })
class CommitFailuresIntegrationTests {

	private static final String ORIGIN = "https://shop.example";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@Parameter
	@SuppressWarnings("NullAway.Init")
	String container;

	private final String name = "work-" + UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		application = TransactionApplication.start(CheckoutApplication.class, redis, postgres,
				WebApplication.WITH_DATABASE, "test.container=" + container);
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	@Test
	void areAnsweredByTheControllersOwnExceptionHandler() {
		HttpResponse<byte[]> first = post();
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(text(first)).isEqualTo("sold out, rows: 0");
		assertThat(application.bean(Works.class).count(this.name)).isZero();
		HttpResponse<byte[]> retry = post();
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.body()).isEqualTo(first.body());
	}

	@Test
	void leaveWhatOthersHavePutOnTheResponse() {
		HttpResponse<byte[]> answer = post();
		assertThat(answer.headers().allValues("Access-Control-Allow-Origin")).containsExactly(ORIGIN);
		assertThat(answer.headers().allValues("X-Inner-Filter")).containsExactly("1");
		assertThat(answer.headers().allValues("Set-Cookie")).singleElement().asString().startsWith("JSESSIONID=");
	}

	@Test
	void takeBackWhatTheHandlerHasPutOnTheResponse() {
		HttpResponse<byte[]> answer = post();
		assertThat(answer.headers().firstValue("Location")).isEmpty();
		assertThat(answer.headers().firstValue("X-Order")).isEmpty();
		assertThat(answer.headers().allValues("Set-Cookie").toString()).doesNotContain("order=");
	}

	private HttpResponse<byte[]> post() {
		return application.post("/checkout?name=" + this.name, "{}", "Idempotency-Key", this.key, "Origin", ORIGIN);
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TransactionApplication.class, CheckoutController.class })
	static class CheckoutApplication {

		/**
		 * Without an order it comes after the other filters.
		 */
		@Bean
		FilterRegistrationBean<Filter> innerFilter() {
			return new FilterRegistrationBean<>((request, response, chain) -> {
				((HttpServletResponse) response).addHeader("X-Inner-Filter", "1");
				chain.doFilter(request, response);
			});
		}

	}

	@RestController
	@CrossOrigin(ORIGIN)
	static class CheckoutController {

		private final Works works;

		private final TroubledWorks troubled;

		CheckoutController(Works works, TroubledWorks troubled) {
			this.works = works;
			this.troubled = troubled;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/checkout")
		ResponseEntity<?> checkOut(@RequestParam String name, HttpServletRequest request,
				HttpServletResponse response) {
			this.works.write(name);
			request.getSession().setAttribute("basket", name);
			response.addHeader("X-Order", name);
			response.addHeader("Set-Cookie", "order=" + name);
			this.troubled.failBeforeCommit();
			return ResponseEntity.status(201).header("Location", "/orders/" + name).build();
		}

		@ExceptionHandler
		ResponseEntity<String> soldOut(TroubledWorks.DeclinedException ex, HttpServletRequest request) {
			int rows = this.works.count(request.getParameter("name"));
			return ResponseEntity.unprocessableContent().body("sold out, rows: " + rows);
		}

	}

}
