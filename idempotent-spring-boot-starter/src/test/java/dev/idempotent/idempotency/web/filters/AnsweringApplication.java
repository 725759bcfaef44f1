package dev.idempotent.idempotency.web.filters;

import java.io.IOException;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.error.ErrorPage;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.support.ErrorPageFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Filters that answer errors instead of the container, chosen by a header of the request.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(FailingController.class)
class AnsweringApplication {

	static final String FILTER = "X-Filter";

	@Bean
	FilterRegistrationBean<Filter> answering() {
		return new FilterRegistrationBean<>((request, response, chain) -> {
			String filter = String.valueOf(((HttpServletRequest) request).getHeader(FILTER));
			HttpServletResponse http = (HttpServletResponse) response;
			if (filter.equals("wraps") || filter.equals("flushes")) {
				chain.doFilter(request, new AnsweringResponse(http, filter.equals("flushes")));
				return;
			}
			try {
				chain.doFilter(request, response);
			}
			catch (Exception ex) {
				http.setStatus(filter.equals("refuses") ? 400 : 500);
				http.getWriter().write("caught");
			}
		});
	}

	/**
	 * Boot's filter for containers without error pages.
	 */
	@Bean
	FilterRegistrationBean<Filter> deferring() {
		ErrorPageFilter errorPages = new ErrorPageFilter();
		errorPages.addErrorPages(new ErrorPage("/error"));
		FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
			if ("defers".equals(((HttpServletRequest) request).getHeader(FILTER))) {
				errorPages.doFilter(request, response, chain);
			}
			else {
				chain.doFilter(request, response);
			}
		});
		registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
		return registration;
	}

	static class AnsweringResponse extends HttpServletResponseWrapper {

		private final boolean flushes;

		AnsweringResponse(HttpServletResponse response, boolean flushes) {
			super(response);
			this.flushes = flushes;
		}

		@Override
		public void sendError(int status) throws IOException {
			sendError(status, "");
		}

		@Override
		public void sendError(int status, String message) throws IOException {
			setStatus(status);
			setContentType("application/json");
			getWriter().write("{\"error\":" + status + "}");
			if (this.flushes) {
				flushBuffer();
			}
		}

	}

}
