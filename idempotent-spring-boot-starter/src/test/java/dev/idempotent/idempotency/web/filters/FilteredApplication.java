package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Filters registered in every way, before two servlets.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ FilteredApplication.Orders.class, ApiKeyFilter.class, Gate.Plain.class, Gate.Ordered.class,
		AnswerFilter.class })
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

}
