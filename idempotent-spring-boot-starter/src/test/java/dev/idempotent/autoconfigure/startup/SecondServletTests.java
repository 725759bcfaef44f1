package dev.idempotent.autoconfigure.startup;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * A second DispatcherServlet with its own context, whose handlers the filter does not
 * serve.
 */
@ExtendWith(OutputCaptureExtension.class)
class SecondServletTests {

	private static final String MISTAKE = "The @Idempotent method " + Annotated.class.getName()
			+ ".place() would have no effect: its bean 'secondServletTests.Annotated' is in the child context "
			+ "'WebApplicationContext for namespace 'second-servlet'', where the auto-configuration of this library "
			+ "does not apply.";

	/**
	 * Tomcat creates it at its first request.
	 */
	@Test
	void doesNotServeAnnotatedHandlers(CapturedOutput output) {
		try (WebApplication app = start(Annotated.class, "tomcat")) {
			for (int i = 0; i < 2; i++) {
				assertThat(app.post("/second/orders", "{}", "Idempotency-Key", "one").statusCode())
					.isGreaterThanOrEqualTo(500);
			}
		}
		assertThat(Annotated.runs).hasValue(0);
		assertThat(output).contains(MISTAKE);
	}

	/**
	 * Jetty creates it before it starts.
	 */
	@Test
	void stopsTheApplicationBecauseOfAnnotatedHandlers() {
		assertThatException().isThrownBy(() -> start(Annotated.class, "jetty")).havingRootCause().withMessage(MISTAKE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void servesAllOtherHandlers(String container) {
		try (WebApplication app = start(Plain.class, container)) {
			assertThat(app.post("/second/orders", "{}", "Idempotency-Key", "one").statusCode()).isEqualTo(200);
		}
	}

	private static WebApplication start(Class<?> handlers, String container) {
		return WebApplication.start(Application.class, List::of, "test.container=" + container,
				"second.handlers=" + handlers.getName());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		ServletRegistrationBean<DispatcherServlet> second(Environment environment) {
			AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
			context.register(Second.class,
					ClassUtils.resolveClassName(environment.getRequiredProperty("second.handlers"), null));
			ServletRegistrationBean<DispatcherServlet> servlet = new ServletRegistrationBean<>(
					new DispatcherServlet(context), "/second/*");
			servlet.setName("second");
			return servlet;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	static class Second {

	}

	@RestController
	static class Annotated {

		private static final AtomicInteger runs = new AtomicInteger();

		@Idempotent
		@PostMapping("/orders")
		String place() {
			return "run " + runs.incrementAndGet();
		}

	}

	@RestController
	static class Plain {

		@PostMapping("/orders")
		String place() {
			return "run";
		}

	}

}
