package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that are mapped after the start, which has checked the others.
 */
@ExtendWith(OutputCaptureExtension.class)
class LateHandlersIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(Application.class, container, WebApplication.WITH_OPERATIONS);
	}

	@Test
	void runFromTheSecondRequestOnIfNoOtherHandlerHasTheirMethod(CapturedOutput output) throws Exception {
		AtomicInteger runs = new AtomicInteger();
		register("/late", RequestMethod.GET, new Counting(runs));
		assertThat(get("/late").statusCode()).isEqualTo(500);
		assertThat(runs).hasValue(0);
		assertThat(output).contains("Counting.run() was not run: it was mapped to GET after the start, or in the "
				+ "context of another dispatcher servlet, and no other one is. From now on, requests with this HTTP "
				+ "method claim their keys: send the request again.");

		assertThat(get("/late").statusCode()).isEqualTo(200);
		assertThat(isReplay(get("/late"))).isTrue();
		assertThat(runs).hasValue(1);
	}

	@Test
	void areNotCalledByAnAdapterThatMayAnswerInTheirPlace(CapturedOutput output) throws Exception {
		AtomicInteger runs = new AtomicInteger();
		register("/answered", RequestMethod.POST, new Answered(runs));
		for (int i = 0; i < 2; i++) {
			assertThat(post("/answered").statusCode()).isEqualTo(500);
		}
		assertThat(application.bean(AnsweringAdapter.class).calls()).hasValue(0);
		assertThat(runs).hasValue(0);
		assertThat(output).contains("Answered.run() was not run: advice cannot watch it, and the handler adapter "
				+ AnsweringAdapter.class.getName() + " would call it");
	}

	private static void register(String path, RequestMethod method, Object handler) throws NoSuchMethodException {
		RequestMappingHandlerMapping mapping = application.bean(Mapping.class).requestMappingHandlerMapping();
		mapping.registerMapping(
				RequestMappingInfo.paths(path).methods(method).options(mapping.getBuilderConfiguration()).build(),
				handler, handler.getClass().getDeclaredMethod("run"));
	}

	private HttpResponse<byte[]> get(String path) {
		HttpRequest.Builder request = application.request(path).GET();
		return application.send(request.header("Idempotency-Key", this.key).build());
	}

	@RestController
	static class Counting {

		private final AtomicInteger runs;

		Counting(AtomicInteger runs) {
			this.runs = runs;
		}

		@Idempotent
		int run() {
			return this.runs.incrementAndGet();
		}

	}

	/**
	 * A class that advice can watch, of which an object is mapped that is no bean.
	 */
	@RestController
	static class Answered extends Counting {

		Answered(AtomicInteger runs) {
			super(runs);
		}

		@Override
		@Idempotent
		int run() {
			return super.run();
		}

	}

	/**
	 * Answers without the handler.
	 */
	static final class AnsweringAdapter implements HandlerAdapter, Ordered {

		private final AtomicInteger calls = new AtomicInteger();

		AtomicInteger calls() {
			return this.calls;
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public boolean supports(Object handler) {
			return handler instanceof HandlerMethod method && method.getBeanType() == Answered.class;
		}

		@Override
		public @Nullable ModelAndView handle(HttpServletRequest request, HttpServletResponse response, Object handler)
				throws IOException {
			this.calls.incrementAndGet();
			response.getWriter().write("answered");
			return null;
		}

	}

	/**
	 * That of the application, of several.
	 */
	record Mapping(RequestMappingHandlerMapping requestMappingHandlerMapping) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ AnsweringAdapter.class, Mapping.class })
	static class Application {

	}

}
