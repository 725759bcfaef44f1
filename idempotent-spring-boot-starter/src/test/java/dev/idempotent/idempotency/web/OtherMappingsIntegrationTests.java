package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.PriorityOrdered;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.HandlerTypePredicate;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ways to an annotated handler other than a request to the first mapping: each needs a
 * key, or does not run the handler.
 */
class OtherMappingsIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container, WebApplication.WITH_OPERATIONS);
		RequestMappingHandlerMapping mapping = application.bean(Mappings.class).first();
		register(mapping, "/late/object", new Late());
		register(mapping, "/late/record", new LateRecord());
	}

	private static void register(RequestMappingHandlerMapping mapping, String path, Object handler) {
		Method method = handler.getClass().getDeclaredMethods()[0];
		mapping.registerMapping(RequestMappingInfo.paths(path)
			.methods(RequestMethod.POST)
			.options(mapping.getBuilderConfiguration())
			.build(), handler, method);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/second/proxied", "/second/record", "/second/in-transaction", "/other/proxied",
			"/other/record", "/proxied", "/record", "/in-transaction", "/late/object", "/late/record", "/unintercepted",
			"/unintercepted/record" })
	void runOncePerKey(String path) {
		int before = runs();
		assertThat(application.post(path, "{}").statusCode()).isEqualTo(400);
		assertThat(runs()).isEqualTo(before);
		assertThat(post(path).statusCode()).isEqualTo(200);
		assertThat(isReplay(post(path))).isTrue();
		assertThat(runs()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/unintercepted", "/unintercepted/record" })
	void runOncePerKeyWhateverTheirMethod(String path) {
		int before = runs();
		assertThat(get(path, null).statusCode()).isEqualTo(400);
		assertThat(runs()).isEqualTo(before);
		assertThat(get(path, this.key).statusCode()).isEqualTo(200);
		assertThat(isReplay(get(path, this.key))).isTrue();
		assertThat(runs()).isEqualTo(before + 1);
	}

	@Test
	void doNotRunIfTheyAreMappedAgainWithOtherConditions() {
		RequestMappingHandlerMapping mapping = application.bean(Mappings.class).first();
		LateAgain handler = new LateAgain();
		register(mapping, "/late/again", handler);
		assertThat(post("/late/again").statusCode()).isEqualTo(200);
		int before = runs();
		mapping.registerMapping(RequestMappingInfo.paths("/late/again")
			.methods(RequestMethod.POST)
			.headers("X-Mode=other")
			.options(mapping.getBuilderConfiguration())
			.build(), handler, handler.getClass().getDeclaredMethods()[0]);
		assertThat(post("/late/again", "X-Mode", "other").statusCode()).isEqualTo(500);
		assertThat(post("/late/again").statusCode()).isEqualTo(500);
		assertThat(runs()).isEqualTo(before);
	}

	private static HttpResponse<byte[]> get(String path, @Nullable String key) {
		HttpRequest.Builder request = application.request(path).GET();
		return application.send(((key != null) ? request.header("Idempotency-Key", key) : request).build());
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "/forward/proxied", "/forward/record", "/include/proxied", "/include/record", "/async/proxied",
					"/async/record", "/forward/in-transaction", "/function/proxied", "/function/in-transaction" })
	void doNotRunWithoutAKey(String path) {
		int before = runs();
		HttpResponse<byte[]> response = post(path);
		assertThat(runs()).isEqualTo(before);
		assertThat(response.statusCode()).isEqualTo(500);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/lease/forward/proxied", "/lease/forward/record", "/lease/include/proxied",
			"/lease/include/record", "/lease/async/record" })
	void runUnderTheKeyOfTheHandlerThatDispatches(String path) {
		int before = runs();
		assertThat(post(path).statusCode()).isEqualTo(200);
		assertThat(isReplay(post(path))).isTrue();
		assertThat(runs()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/lease/forward/in-transaction", "/lease/include/in-transaction",
			"/lease/async/in-transaction" })
	void doNotRunWithoutTheirTransaction(String path) {
		int before = runs();
		HttpResponse<byte[]> response = post(path);
		assertThat(runs()).isEqualTo(before);
		assertThat(response.statusCode()).isEqualTo(500);
		assertThat(isReplay(post(path))).isFalse();
	}

	@Test
	void doNotAnswerForAnotherOneOfTheSameUrl() {
		int before = runs();
		assertThat(post("/alternating/annotated").statusCode()).isEqualTo(200);
		assertThat(post("/alternating/annotated").statusCode()).isEqualTo(422);
		assertThat(isReplay(post("/alternating/annotated"))).isTrue();
		assertThat(runs()).isEqualTo(before + 1);
	}

	@Test
	void doNotRollBackAnotherOneOfTheSameUrl() {
		assertThat(post("/alternating/redirected").statusCode()).isEqualTo(200);
		int before = runs();
		assertThat(post("/alternating/redirected").headers().firstValue("Location")).hasValue("/" + (before + 1));
		assertThat(isReplay(post("/alternating/redirected"))).isTrue();
		assertThat(runs()).isEqualTo(before + 1);
	}

	@Test
	void letOtherBeansCallThem() {
		assertThat(post("/called").statusCode()).isEqualTo(200);
	}

	@Test
	void letNoBeanCallThemWithoutTheirTransaction() {
		int before = runs();
		assertThat(post("/lease/called").statusCode()).isEqualTo(500);
		assertThat(runs()).isEqualTo(before + 1);
	}

	private static int runs() {
		return Proxied.runs.get();
	}

	@RestController
	static class Proxied {

		static final AtomicInteger runs = new AtomicInteger();

		@Idempotent
		@PostMapping("/proxied")
		public int run() {
			return runs.incrementAndGet();
		}

		@Idempotent
		@PostMapping("/alternative")
		public int runInstead() {
			return runs.incrementAndGet();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/in-transaction")
		int runInTransaction() {
			return runs.incrementAndGet();
		}

		ResponseEntity<?> runAndRedirect() {
			return ResponseEntity.status(302).header("Location", "/" + runs.incrementAndGet()).build();
		}

	}

	@RestController
	record Unproxied() {

		@Idempotent
		@PostMapping("/record")
		int run() {
			return Proxied.runs.incrementAndGet();
		}

	}

	static class Late {

		@Idempotent
		@ResponseBody
		public int run() {
			return Proxied.runs.incrementAndGet();
		}

	}

	static class LateAgain extends Late {

		@Override
		@Idempotent
		@ResponseBody
		public int run() {
			return super.run();
		}

	}

	record LateRecord() {

		@Idempotent
		@ResponseBody
		public int run() {
			return Proxied.runs.incrementAndGet();
		}

	}

	@Controller
	static class Dispatchers {

		private final Proxied proxied;

		Dispatchers(Proxied proxied) {
			this.proxied = proxied;
		}

		@PostMapping("/{way:forward|include|async}/{name}")
		void dispatch(@PathVariable String way, @PathVariable String name, HttpServletRequest request,
				HttpServletResponse response) throws ServletException, IOException {
			String path = "/" + name;
			switch (way) {
				case "forward" -> request.getRequestDispatcher(path).forward(request, response);
				case "include" -> request.getRequestDispatcher(path).include(request, response);
				default -> request.startAsync().dispatch(path);
			}
		}

		@Idempotent
		@PostMapping("/lease/{way}/{name}")
		void dispatchUnderLease(@PathVariable String way, @PathVariable String name, HttpServletRequest request,
				HttpServletResponse response) throws ServletException, IOException {
			dispatch(way, name, request, response);
		}

		@Idempotent
		@PostMapping("/lease/called")
		@ResponseBody
		int callUnderLease() {
			return call();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/called")
		@ResponseBody
		int call() {
			return this.proxied.run() + this.proxied.runInTransaction();
		}

	}

	/**
	 * A mapping without interceptors.
	 */
	record Unintercepted(Proxied proxied, Unproxied unproxied) implements HandlerMapping, PriorityOrdered {

		@Override
		public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) throws NoSuchMethodException {
			return switch (request.getRequestURI()) {
				case "/unintercepted" ->
					new HandlerExecutionChain(new HandlerMethod(this.proxied, Proxied.class.getMethod("run")));
				case "/unintercepted/record" -> new HandlerExecutionChain(
						new HandlerMethod(this.unproxied, Unproxied.class.getDeclaredMethod("run")));
				default -> null;
			};
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

	/**
	 * A mapping that finds another handler for each second request of a path.
	 */
	record Alternating(Proxied proxied, Map<String, AtomicInteger> times) implements HandlerMapping, PriorityOrdered {

		@Override
		public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) throws NoSuchMethodException {
			String path = request.getRequestURI();
			if (!path.startsWith("/alternating")) {
				return null;
			}
			int time = this.times.computeIfAbsent(path, (key) -> new AtomicInteger()).incrementAndGet();
			String name = (time % 2 == 1) ? "run" : path.endsWith("redirected") ? "runAndRedirect" : "runInstead";
			return new HandlerExecutionChain(new HandlerMethod(this.proxied, Proxied.class.getDeclaredMethod(name)));
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

	/**
	 * The mappings by their order.
	 */
	record Mappings(RequestMappingHandlerMapping first) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Proxied.class, Unproxied.class, Dispatchers.class })
	static class Application {

		@Bean
		Mappings mappings(RequestMappingHandlerMapping requestMappingHandlerMapping) {
			return new Mappings(requestMappingHandlerMapping);
		}

		@Bean
		RouterFunction<ServerResponse> function(Proxied proxied) {
			return RouterFunctions.route()
				.POST("/function/proxied", (request) -> ServerResponse.ok().body(proxied.run()))
				.POST("/function/in-transaction", (request) -> ServerResponse.ok().body(proxied.runInTransaction()))
				.build();
		}

		@Bean
		HandlerMapping unintercepted(Proxied proxied, Unproxied unproxied) {
			return new Unintercepted(proxied, unproxied);
		}

		@Bean
		HandlerMapping alternating(Proxied proxied) {
			return new Alternating(proxied, new ConcurrentHashMap<>());
		}

		@Bean(defaultCandidate = false)
		RequestMappingHandlerMapping secondMapping() {
			RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping();
			mapping.setOrder(1);
			mapping.setPathPrefixes(Map.of("/second", HandlerTypePredicate.forAnyHandlerType()));
			return mapping;
		}

		@Bean
		ServletRegistrationBean<DispatcherServlet> otherServlet(WebApplicationContext context) {
			ServletRegistrationBean<DispatcherServlet> registration = new ServletRegistrationBean<>(
					new DispatcherServlet(context), "/other/*");
			registration.setName("other-" + UUID.randomUUID());
			return registration;
		}

	}

}
