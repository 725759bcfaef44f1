package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.util.ContentCachingResponseWrapper;

/**
 * Filters registered in every way, before two servlets.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ FilteredApplication.Orders.class, FilteredApplication.ApiKeyFilter.class,
		FilteredApplication.Gate.Plain.class, FilteredApplication.Gate.Ordered.class,
		FilteredApplication.AnswerFilter.class })
class FilteredApplication {

	@Bean
	FilterRegistrationBean<Gate> registeredGate() {
		FilterRegistrationBean<Gate> registration = new FilterRegistrationBean<>(new Gate("registered"));
		registration.setOrder(Ordered.LOWEST_PRECEDENCE);
		return registration;
	}

	@Bean
	Gate.LastByName zzzGate() {
		return new Gate.LastByName();
	}

	@Bean
	FilterRegistrationBean<Gate> gateOfAServlet() {
		FilterRegistrationBean<Gate> registration = new FilterRegistrationBean<>(new Gate("of-a-servlet"));
		registration.addServletNames("shop", "other");
		return registration;
	}

	@Bean
	DispatcherServletRegistrationBean dispatcherServletRegistration(DispatcherServlet dispatcherServlet) {
		DispatcherServletRegistrationBean registration = new DispatcherServletRegistrationBean(dispatcherServlet,
				"/shop");
		registration.setName("shop");
		return registration;
	}

	@Bean
	ServletRegistrationBean<DispatcherServlet> otherRegistration(WebApplicationContext context) {
		ServletRegistrationBean<DispatcherServlet> registration = new ServletRegistrationBean<>(
				new DispatcherServlet(context), "/other/*");
		registration.setName("other");
		return registration;
	}

	@RestController
	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/orders")
		@Idempotent
		String order() {
			return "run " + this.runs.incrementAndGet();
		}

		@PostMapping("/orders/composed")
		@Idempotent
		void compose(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
			request.getRequestDispatcher("/shop/part").include(request, response);
			response.getWriter().write(" of run " + this.runs.incrementAndGet());
		}

		@RequestMapping("/part")
		void part(HttpServletResponse response) throws IOException {
			response.getWriter().write("part");
		}

		void reset() {
			this.runs.set(0);
		}

	}

	/**
	 * Adds a header to responses and rewrites their bodies if the request asks for it.
	 */
	static class AnswerFilter implements Filter {

		static final String LOUD = "X-Loud";

		static final String WRITTEN = "X-Written";

		@Override
		public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
				throws IOException, ServletException {
			if (((HttpServletRequest) request).getHeader(LOUD) == null) {
				chain.doFilter(request, response);
				return;
			}
			((HttpServletResponse) response).setHeader(WRITTEN, "loudly");
			ContentCachingResponseWrapper wrapper = new ContentCachingResponseWrapper((HttpServletResponse) response);
			chain.doFilter(request, wrapper);
			byte[] body = new String(wrapper.getContentAsByteArray(), StandardCharsets.UTF_8).toUpperCase(Locale.ROOT)
				.getBytes(StandardCharsets.UTF_8);
			wrapper.resetBuffer();
			wrapper.getOutputStream().write(body);
			wrapper.copyBodyToResponse();
		}

	}

	/**
	 * Authenticates callers without Spring Security; has no order.
	 */
	@Component
	static class ApiKeyFilter implements Filter {

		static final String API_KEY = "X-Api-Key";

		@Override
		public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
				throws IOException, ServletException {
			HttpServletRequest http = (HttpServletRequest) request;
			String caller = http.getHeader(API_KEY);
			if (caller == null) {
				((HttpServletResponse) response).setStatus(HttpServletResponse.SC_UNAUTHORIZED);
				return;
			}
			chain.doFilter(new HttpServletRequestWrapper(http) {

				@Override
				public Principal getUserPrincipal() {
					return () -> caller;
				}

			}, response);
		}

	}

	/**
	 * A filter that refuses the requests whose header {@code X-Closed} has its name.
	 */
	static class Gate implements Filter {

		static final String CLOSED = "X-Closed";

		private final String name;

		Gate(String name) {
			this.name = name;
		}

		@Override
		public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
				throws IOException, ServletException {
			if (this.name.equals(((HttpServletRequest) request).getHeader(CLOSED))) {
				((HttpServletResponse) response).setStatus(HttpServletResponse.SC_FORBIDDEN);
				response.getWriter().write(this.name);
			}
			else {
				chain.doFilter(request, response);
			}
		}

		/**
		 * The gates of {@link FilteredApplication}.
		 */
		static List<String> names() {
			return List.of("plain", "ordered", "registered", "last-by-name", "of-a-servlet");
		}

		static class Plain extends Gate {

			Plain() {
				super("plain");
			}

		}

		@Order(10)
		static class Ordered extends Gate {

			Ordered() {
				super("ordered");
			}

		}

		static class LastByName extends Gate {

			LastByName() {
				super("last-by-name");
			}

		}

	}

}
