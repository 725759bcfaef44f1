package dev.idempotent.idempotency.web.transaction;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.transaction.Works.Troubled;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.handler.SimpleMappingExceptionResolver;
import org.springframework.web.servlet.view.AbstractView;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A failed commit is answered as if the handler had thrown its exception.
 */
class CommitFailuresIntegrationTests extends AbstractPostgresHandlerTests {

	private static final String ORIGIN = "https://shop.example";

	private final String name = "work-" + UUID.randomUUID();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithPostgres(CheckoutApplication.class, container);
	}

	@Test
	void areAnsweredByTheControllersOwnExceptionHandler() {
		HttpResponse<byte[]> first = post();
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(text(first)).isEqualTo("sold out, rows: 0");
		assertThat(application.bean(Works.class).count(this.name)).isZero();
		HttpResponse<byte[]> retry = post();
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(first.body());
	}

	@Test
	void keepHeadersOfFiltersAndContainer() {
		HttpResponse<byte[]> answer = post();
		assertThat(answer.headers().allValues("Access-Control-Allow-Origin")).containsExactly(ORIGIN);
		assertThat(answer.headers().allValues("X-Inner-Filter")).containsExactly("1");
		assertThat(answer.headers().allValues("Set-Cookie")).singleElement().asString().startsWith("JSESSIONID=");
	}

	@Test
	void discardHeadersOfTheHandler() {
		HttpResponse<byte[]> answer = post();
		assertThat(answer.headers().firstValue("Location")).isEmpty();
		assertThat(answer.headers().firstValue("X-Order")).isEmpty();
		assertThat(answer.headers().allValues("Set-Cookie").toString()).doesNotContain("order=");
	}

	/**
	 * As the dispatcher servlet does, which detects them.
	 */
	@Test
	void areResolvedByEachResolverOfTheApplicationIfAViewWasRendered() {
		HttpResponse<byte[]> first = post("/checkout/page?name=" + this.name);
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(text(first)).isEqualTo("The page of OverdrawnException, rows: 0");
		assertThat(first.headers().firstValue("Location")).isEmpty();
		assertThat(first.headers().firstValue("X-Order")).isEmpty();
		HttpResponse<byte[]> retry = post("/checkout/page?name=" + this.name);
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(first.body());
	}

	private HttpResponse<byte[]> post() {
		return post("/checkout?name=" + this.name, "Origin", ORIGIN);
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TransactionApplication.class, CheckoutController.class })
	static class CheckoutApplication {

		/**
		 * Has no order, so it follows the other filters.
		 */
		@Bean
		FilterRegistrationBean<Filter> innerFilter() {
			return new FilterRegistrationBean<>((request, response, chain) -> {
				((HttpServletResponse) response).addHeader("X-Inner-Filter", "1");
				chain.doFilter(request, response);
			});
		}

		@Bean
		SimpleMappingExceptionResolver pages() {
			SimpleMappingExceptionResolver resolver = new SimpleMappingExceptionResolver();
			resolver.setExceptionMappings(propertiesOf(OverdrawnException.class, "overdrawn"));
			resolver.addStatusCode("overdrawn", 422);
			return resolver;
		}

		private static Properties propertiesOf(Class<?> exception, String view) {
			Properties mappings = new Properties();
			mappings.setProperty(exception.getName(), view);
			return mappings;
		}

		@Bean
		View overdrawn(Works works) {
			return new AbstractView() {

				@Override
				protected void renderMergedOutputModel(Map<String, Object> model, HttpServletRequest request,
						HttpServletResponse response) throws IOException {
					setResponseContentType(request, response);
					response.getWriter()
						.write("The page of " + model.get("exception").getClass().getSimpleName() + ", rows: "
								+ works.count(request.getParameter("name")));
				}

			};
		}

	}

	@RestController
	@CrossOrigin(ORIGIN)
	static class CheckoutController {

		private final Works works;

		private final Troubled troubled;

		CheckoutController(Works works, Troubled troubled) {
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

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/checkout/page")
		ModelAndView checkOutOnAPage(@RequestParam String name, HttpServletResponse response) {
			this.works.write(name);
			response.addHeader("X-Order", name);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void beforeCommit(boolean readOnly) {
					throw new OverdrawnException();
				}
			});
			return new ModelAndView("redirect:/thanks");
		}

		@ExceptionHandler
		ResponseEntity<String> soldOut(Troubled.DeclinedException ex, HttpServletRequest request) {
			int rows = this.works.count(request.getParameter("name"));
			return ResponseEntity.unprocessableContent().body("sold out, rows: " + rows);
		}

	}

	private static final class OverdrawnException extends RuntimeException {

	}

}
