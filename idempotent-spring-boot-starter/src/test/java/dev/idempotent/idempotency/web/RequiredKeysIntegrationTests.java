package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.pattern.PathPatternParser;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Handlers without annotation that are matched by {@code idempotent.web.required-for}.
 */
@ExtendWith(OutputCaptureExtension.class)
class RequiredKeysIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void protectOnlyMatchingRequests() {
		String key = UUID.randomUUID().toString();
		try (WebApplication application = WebApplication.start(Application.class, redis,
				"idempotent.web.required-for=POST /plain/**, PUT /plain")) {
			Operations operations = application.bean(Operations.class);
			assertThat(application.post("/plain/1", "{}").statusCode()).isEqualTo(400);
			assertThat(operations.runs()).isZero();

			assertThat(text(application.post("/plain/1", "{}", KEY, key))).startsWith("run 1");
			HttpResponse<byte[]> retry = application.post("/plain/1", "{}", KEY, key);
			assertThat(text(retry)).startsWith("run 1");
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");

			assertThat(application.send(application.request("/plain/1").GET().build()).statusCode()).isEqualTo(405);
			assertThat(text(application.post("/merged", '"' + key + '"'))).isEqualTo("run 2");
		}
	}

	/**
	 * As {@code @PostMapping} is written.
	 */
	@Test
	void matchPathsWithoutThePathOfTheDispatcherServlet() {
		try (WebApplication application = WebApplication.start(Application.class, redis,
				"server.servlet.context-path=/shop", "spring.mvc.servlet.path=/api",
				"idempotent.web.required-for=POST /plain/**")) {
			assertThat(application.post("/shop/api/plain/1", "{}").statusCode()).isEqualTo(400);
			assertThat(application.bean(Operations.class).runs()).isZero();
		}
		for (String rule : List.of("POST /api/plain/**", "POST /shop/api/plain/**")) {
			try (WebApplication application = WebApplication.start(Application.class, redis,
					"server.servlet.context-path=/shop", "spring.mvc.servlet.path=/api",
					"idempotent.web.required-for=" + rule)) {
				assertThat(text(application.post("/shop/api/plain/1", "{}"))).startsWith("run 1");
			}
		}
	}

	@Test
	void matchPathsAsTheMappingsOfTheApplicationDo() {
		try (WebApplication application = WebApplication.start(AnyCaseApplication.class, redis,
				"idempotent.web.required-for=POST /plain/**")) {
			assertThat(application.post("/PLAIN/1", "{}").statusCode()).isEqualTo(400);
			assertThat(application.post("/plain/1", "{}").statusCode()).isEqualTo(400);
			assertThat(application.bean(Operations.class).runs()).isZero();
			assertThat(text(application.post("/Plain/1", "{}", KEY, UUID.randomUUID().toString()))).startsWith("run 1");
		}
	}

	@Test
	void storeTheResponseOfAdviceIfItHasCalledTheHandler() {
		String key = UUID.randomUUID().toString();
		try (WebApplication application = WebApplication.start(AdvisedApplication.class, redis,
				"idempotent.web.required-for=POST /advised/**")) {
			for (String end : List.of("fallback", "after")) {
				for (boolean replayed : new boolean[] { false, end.equals("after") }) {
					HttpResponse<byte[]> response = application.post("/advised/" + end, "{}", KEY, key + end);
					assertThat(response.statusCode()).isEqualTo(end.equals("after") ? 410 : 200);
					assertThat(response.headers().firstValue("Idempotent-Replayed").isPresent()).isEqualTo(replayed);
				}
			}
			assertThat(application.bean(AtomicInteger.class)).hasValue(1);
		}
	}

	@Test
	void protectServletsThatAreMappedToAPrefix() {
		String key = UUID.randomUUID().toString();
		try (WebApplication application = WebApplication.start(ServletApplication.class, redis,
				"idempotent.web.required-for=POST /legacy/**")) {
			assertThat(application.post("/legacy/orders", "{}").statusCode()).isEqualTo(400);
			assertThat(text(application.post("/legacy/orders", "{}", KEY, key))).isEqualTo("run 1");
			HttpResponse<byte[]> retry = application.post("/legacy/orders", "{}", KEY, key);
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(text(retry)).isEqualTo("run 1");
		}
	}

	@Test
	void protectOperationsOfActuatorEndpoints() {
		String key = UUID.randomUUID().toString();
		try (WebApplication application = WebApplication.start(EndpointApplication.class, redis,
				"management.endpoints.web.exposure.include=counter",
				"idempotent.web.required-for=POST /actuator/counter/*")) {
			assertThat(application.post("/actuator/counter/a", "{}").statusCode()).isEqualTo(400);
			HttpResponse<byte[]> first = application.post("/actuator/counter/a", "{}", KEY, key);
			assertThat(first.statusCode()).isEqualTo(200);
			HttpResponse<byte[]> retry = application.post("/actuator/counter/a", "{}", KEY, key);
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(text(retry)).isEqualTo(text(first)).contains("a 1");
			assertThat(application.post("/actuator/counter/b", "{}", KEY, key).statusCode()).isEqualTo(422);
		}
	}

	@Test
	void doNotReachEndpointsOnAPortOfTheirOwn(CapturedOutput output) {
		try (WebApplication application = WebApplication.start(EndpointApplication.class, redis,
				"management.endpoints.web.exposure.include=counter", "management.server.port=0",
				"management.server.address=127.0.0.1", "idempotent.web.required-for=POST /actuator/counter/*")) {
			int port = application.bean(Environment.class).getRequiredProperty("local.management.port", int.class);
			HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/counter/a"))
				.header("Content-Type", "application/json")
				.POST(BodyPublishers.ofString("{}"))
				.build();
			assertThat(text(application.send(request))).contains("a 1");
			assertThat(text(application.send(request))).contains("a 2");
			assertThat(output).contains("no controller method is mapped to [POST /actuator/counter/*]");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "POST", "/plain", "post /plain", "POST plain", "POST /{", "POST /a /b" })
	void areCheckedAtStartUp(String rule) {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> IdempotentOperations.Rule.parse(rule))
			.withMessageStartingWith("idempotent.web.required-for: ");
	}

	@Endpoint(id = "counter")
	static class Counter {

		private final AtomicInteger runs = new AtomicInteger();

		@WriteOperation
		Map<String, String> count(@Selector String name) {
			return Map.of("counted", name + " " + this.runs.incrementAndGet());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Counter.class)
	static class EndpointApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ServletApplication {

		@Bean
		ServletRegistrationBean<HttpServlet> legacy() {
			AtomicInteger runs = new AtomicInteger();
			return new ServletRegistrationBean<>(new HttpServlet() {

				@Override
				protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
					response.getWriter().print("run " + runs.incrementAndGet());
				}

			}, "/legacy/*");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class AnyCaseApplication implements WebMvcConfigurer {

		@Override
		public void configurePathMatch(PathMatchConfigurer configurer) {
			PathPatternParser parser = new PathPatternParser();
			parser.setCaseSensitive(false);
			configurer.setPatternParser(parser);
		}

	}

	@RestController
	static class Advised {

		private final AtomicInteger runs;

		Advised(AtomicInteger runs) {
			this.runs = runs;
		}

		@PostMapping("/advised/{end}")
		public String handle(@PathVariable String end) {
			return end + this.runs.incrementAndGet();
		}

	}

	/**
	 * A circuit breaker that is open, and an audit that fails after the call.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import({ Application.class, Advised.class })
	static class AdvisedApplication {

		@Bean
		AtomicInteger runs() {
			return new AtomicInteger();
		}

		@Bean
		static DefaultAdvisorAutoProxyCreator proxies() {
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			creator.setProxyTargetClass(true);
			return creator;
		}

		@Bean
		static Advisor advice() {
			MethodInterceptor advice = (call) -> {
				if ("fallback".equals(call.getArguments()[0])) {
					return "fallback";
				}
				call.proceed();
				throw new ResponseStatusException(HttpStatus.GONE);
			};
			return new DefaultPointcutAdvisor(new AnnotationMatchingPointcut(RestController.class, PostMapping.class) {

				@Override
				public ClassFilter getClassFilter() {
					return Advised.class::isAssignableFrom;
				}

			}, advice);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(OperationsApplication.class)
	static class Application {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "guests";
		}

	}

}
