package dev.idempotent.autoconfigure.test;

import java.io.IOException;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.util.WebUtils;

/**
 * Auto-configuration for errors that handlers send in tests with MockMvc.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
final class MockMvcErrorAutoConfiguration {

	@Bean
	FilterRegistrationBean<Filter> idempotencyMockMvcErrorFilterRegistration() {
		FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>(
				MockMvcErrorAutoConfiguration::doFilter);
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE + 1);
		return registration;
	}

	/**
	 * Handles errors in place of MockMvc, which makes no error dispatch: the key of the
	 * request would stay claimed for a response that is never written. Must be mapped
	 * behind the filter that detects whether an error reaches the container.
	 */
	private static void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		MockHttpServletResponse mock = WebUtils.getNativeResponse(response, MockHttpServletResponse.class);
		chain.doFilter(request, (mock != null) ? handlingErrors((HttpServletResponse) response, mock) : response);
	}

	/**
	 * Sends errors past the wrappers around it, so that no error dispatch is expected.
	 */
	private static ServletResponse handlingErrors(HttpServletResponse response, MockHttpServletResponse mock) {
		return new HttpServletResponseWrapper(response) {

			@Override
			public void sendError(int status) throws IOException {
				mock.sendError(status);
			}

			@Override
			public void sendError(int status, String message) throws IOException {
				mock.sendError(status, message);
			}

		};
	}

}
