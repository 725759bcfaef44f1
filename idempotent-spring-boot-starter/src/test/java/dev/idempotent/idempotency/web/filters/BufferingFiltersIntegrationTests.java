package dev.idempotent.idempotency.web.filters;

import java.net.http.HttpResponse;
import java.util.List;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import dev.idempotent.idempotency.web.IdempotencyFilter;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Filters before and behind the library's filter that keep the body of a response until
 * their chain returns.
 */
class BufferingFiltersIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "/inner/body", "/inner/entity", "/inner/view", "/outer/body", "/outer/entity", "/outer/view" })
	void loseNoBody(String path) {
		HttpResponse<byte[]> first = post(path);
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(first)).isEqualTo("done");
		HttpResponse<byte[]> retry = post(path);
		assertThat(isReplay(retry)).isTrue();
		assertThat(WebApplication.text(retry)).isEqualTo("done");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/outer/body", "/outer/entity" })
	void doNotLetAFailureReplaceACommittedResponse(String path) {
		HttpResponse<byte[]> first = post(path, "X-Failing-After", "true");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(first)).isEqualTo("done");
		HttpResponse<byte[]> retry = post(path, "X-Failing-After", "true");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(retry)).isEqualTo("done");
	}

	@Controller
	static class Handlers {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping({ "/inner/body", "/outer/body" })
		@ResponseBody
		String body() {
			return "done";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping({ "/inner/entity", "/outer/entity" })
		ResponseEntity<String> entity() {
			return ResponseEntity.ok("done");
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping({ "/inner/view", "/outer/view" })
		View view() {
			return (model, request, response) -> response.getWriter().print("done");
		}

		@ExceptionHandler
		ResponseEntity<String> answer(IllegalStateException ex) {
			return ResponseEntity.unprocessableContent().body("refused");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application implements WebMvcConfigurer {

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(new HandlerInterceptor() {

				@Override
				public void postHandle(HttpServletRequest request, HttpServletResponse response, Object handler,
						@Nullable ModelAndView view) {
					if (request.getHeader("X-Failing-After") != null) {
						throw new IllegalStateException("The interceptor fails");
					}
				}

			});
		}

		/**
		 * As the documentation describes it for filters whose changes are to be stored.
		 */
		@Bean
		FilterRegistrationBean<IdempotencyFilter> idempotencyFilterRegistration(IdempotencyFilter filter) {
			FilterRegistrationBean<IdempotencyFilter> registration = new FilterRegistrationBean<>(filter);
			registration.setOrder(10);
			registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR,
					DispatcherType.FORWARD);
			return registration;
		}

		@Bean
		FilterRegistrationBean<ShallowEtagHeaderFilter> inner() {
			return etags("/inner/*", 20);
		}

		@Bean
		FilterRegistrationBean<ShallowEtagHeaderFilter> outer() {
			return etags("/outer/*", 0);
		}

		private static FilterRegistrationBean<ShallowEtagHeaderFilter> etags(String urls, int order) {
			FilterRegistrationBean<ShallowEtagHeaderFilter> registration = new FilterRegistrationBean<>(
					new ShallowEtagHeaderFilter());
			registration.setName("etags" + order);
			registration.setOrder(order);
			registration.setUrlPatterns(List.of(urls));
			return registration;
		}

	}

}
