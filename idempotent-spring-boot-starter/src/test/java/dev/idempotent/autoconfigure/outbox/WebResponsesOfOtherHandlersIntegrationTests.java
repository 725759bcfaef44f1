package dev.idempotent.autoconfigure.outbox;

import java.io.IOException;
import java.util.List;
import java.util.UUID;

import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.function.RenderingResponse;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.Controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link WebResponses} of web handlers that are not controller methods, and of
 * exception handlers.
 */
class WebResponsesOfOtherHandlersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, WebApplication.WITH_DATABASE,
				"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(), "idempotent.namespace=other-handlers",
				"idempotent.outbox.initialize-schema=always", "idempotent.jdbc.initialize-schema=always",
				"idempotent.outbox.default-topic=" + RecordingPublisher.TOPIC))
		.resetting(RecordingPublisher.class, (publisher) -> publisher.published().clear());

	@ParameterizedTest
	@CsvSource({ "/functions/201, 201, created", "/functions/400, 400, ", "/functions/409, 409, ",
			"/functions/422, 422, ", "/asked/422, 422, declined", "/asked/201, 201, created", "/rendered, 422, ",
			"/later, 500, ", "/handler?status=200, 200, created", "/handler?status=409, 409, ",
			"/controller?status=409, 409, ", "/controller?status=302, 302, created", "/failures/set, 409, ",
			"/failures/sent, 410, ", "/failures/annotated, 422, ", "/failures/entity, 404, declined",
			"/failures/accepted, 202, created" })
	void decideByTheStatusThatTheClientGetsWhetherThereIsAnEvent(String path, int status, String event) {
		assertThat(application.post(path, "{}").statusCode()).isEqualTo(status);
		JdbcClient database = application.bean(JdbcClient.class);
		await().untilAsserted(
				() -> assertThat(database.sql("select count(*) from outbox_event").query(Integer.class).single())
					.isZero());
		assertThat(application.bean(RecordingPublisher.class).published()).extracting(SerializedEvent::type)
			.isEqualTo((event != null) ? List.of(event) : List.of());
	}

	record PlacedOrder(String id) {
	}

	@Component
	@Transactional
	static class Functions {

		@TransactionalOutbox(type = "created", key = "#result.id")
		public ServerResponse place(ServerRequest request) {
			return ServerResponse.status(Integer.parseInt(request.pathVariable("status"))).body(new PlacedOrder("o-1"));
		}

		@TransactionalOutbox(type = "created", condition = "#status < 400")
		@TransactionalOutbox(type = "declined", condition = "#status == 422")
		public ServerResponse asked(ServerRequest request) {
			return place(request);
		}

		@TransactionalOutbox(type = "created", payload = "'o-1'")
		public ServerResponse rendered(ServerRequest request) {
			return RenderingResponse.create("redirect:/elsewhere").status(422).build();
		}

		@TransactionalOutbox(type = "created", payload = "'o-1'")
		public ServerResponse later(ServerRequest request) {
			return RenderingResponse.create("forward:/functions/409").build();
		}

	}

	@Component("/handler")
	static class Handler implements HttpRequestHandler {

		@Override
		@Transactional
		@TransactionalOutbox(type = "created", payload = "'o-1'")
		public void handleRequest(HttpServletRequest request, HttpServletResponse response) {
			response.setStatus(Integer.parseInt(request.getParameter("status")));
		}

	}

	@Component("/controller")
	static class ViewController implements Controller {

		@Override
		@Transactional
		@TransactionalOutbox(type = "created", payload = "'o-1'", condition = "#status < 400")
		public ModelAndView handleRequest(HttpServletRequest request, HttpServletResponse response) {
			response.setStatus(418);
			return new ModelAndView("redirect:/elsewhere",
					HttpStatus.valueOf(Integer.parseInt(request.getParameter("status"))));
		}

	}

	@RestController
	static class Failures {

		@PostMapping("/failures/{how}")
		void fail(@PathVariable String how) throws Exception {
			throw switch (how) {
				case "set" -> new IllegalArgumentException();
				case "sent" -> new IOException();
				case "annotated" -> new IndexOutOfBoundsException();
				case "entity" -> new UnsupportedOperationException();
				default -> new ArithmeticException();
			};
		}

	}

	@RestControllerAdvice
	@Transactional
	static class FailureHandlers {

		@ExceptionHandler(IllegalArgumentException.class)
		@TransactionalOutbox(type = "created")
		public PlacedOrder set(HttpServletResponse response) {
			response.setStatus(409);
			return new PlacedOrder("o-1");
		}

		@ExceptionHandler(IOException.class)
		@TransactionalOutbox(type = "created", payload = "'o-1'")
		public void sent(HttpServletResponse response) throws IOException {
			response.sendError(410);
		}

		@ExceptionHandler(IndexOutOfBoundsException.class)
		@ResponseStatus(HttpStatus.UNPROCESSABLE_CONTENT)
		@TransactionalOutbox(type = "created")
		public PlacedOrder annotated() {
			return new PlacedOrder("o-1");
		}

		@ExceptionHandler(UnsupportedOperationException.class)
		@TransactionalOutbox(type = "created")
		@TransactionalOutbox(type = "declined", condition = "#status == 404")
		public ResponseEntity<PlacedOrder> entity() {
			return ResponseEntity.status(404).body(new PlacedOrder("o-1"));
		}

		@ExceptionHandler(ArithmeticException.class)
		@TransactionalOutbox(type = "created", condition = "#status < 400")
		public PlacedOrder accepted(HttpServletResponse response) {
			response.setStatus(202);
			return new PlacedOrder("o-1");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ RecordingPublisher.class, Functions.class, Handler.class, ViewController.class, Failures.class,
			FailureHandlers.class })
	static class Application {

		@Bean
		RouterFunction<ServerResponse> routes(Functions functions) {
			return RouterFunctions.route()
				.POST("/functions/{status}", functions::place)
				.POST("/asked/{status}", functions::asked)
				.POST("/rendered", functions::rendered)
				.POST("/later", functions::later)
				.build();
		}

	}

}
