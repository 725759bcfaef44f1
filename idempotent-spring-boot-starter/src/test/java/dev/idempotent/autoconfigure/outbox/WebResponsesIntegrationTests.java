package dev.idempotent.autoconfigure.outbox;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Controller;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.view.FragmentsRendering;
import org.springframework.web.servlet.view.RedirectView;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link WebResponses}: whether web handlers append events follows from the
 * response that they return.
 */
@ExtendWith(OutputCaptureExtension.class)
@SuppressWarnings("FutureReturnValueIgnored") // The container takes them.
class WebResponsesIntegrationTests {

	private static final String ORDER = "{\"id\":\"o-1\"}";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, WebApplication.WITH_DATABASE,
				"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(), "idempotent.namespace=handler-events",
				"idempotent.outbox.initialize-schema=always", "idempotent.jdbc.initialize-schema=always",
				"idempotent.outbox.default-topic=" + RecordingPublisher.TOPIC))
		.resetting(RecordingPublisher.class, (publisher) -> publisher.published().clear());

	@ParameterizedTest
	@CsvSource({ "/entities/201, 201, created", "/entities/404, 404, ", "/entities/422, 422, ", "/entities/503, 503, ",
			"/keyed/201, 201, created", "/keyed/404, 404, ", "/keyed/422, 422, ", "/empty/400, 400, ",
			"/plain/200, 200, created", "/plain/409, 409, ", "/plain/sent, 418, ", "/annotated, 410, ",
			"/annotated/entity, 201, created", "/problems, 422, ", "/http-entities/200, 200, created",
			"/http-entities/404, 404, ", "/asked/201, 201, created", "/asked/404, 404, declined", "/asked/422, 422, ",
			"/each/200, 200, created", "/each/404, 404, ", "/sent/annotated, 409, ", "/sent/entity, 409, ",
			"/sent/keyed, 409, ", "/sent/reason, 500, ", "/sent/asked, 409, declined", "/set/409, 201, created",
			"/views/fragments/422, 422, ", "/views/fragments/200, 200, created", "/views/redirects/409, 409, ",
			"/views/redirects/303, 303, created", "/views/redirect, 302, created", "/views/models/409, 409, ",
			"/views/models/303, 303, created", "/views/models/status, 410, ", "/texts, 200, created",
			"/views/redirects/named, 302, created", "/views/redirects/annotated, 409, ", "/texts/redirect, 409, ",
			"/audited, 422, audited" })
	void decideByTheStatusThatTheClientGetsWhetherThereIsAnEvent(String path, int status, String events) {
		assertThat(application.post(path, ORDER, "Idempotency-Key", UUID.randomUUID().toString()).statusCode())
			.isEqualTo(status);
		assertThat(delivered()).isEqualTo((events != null) ? List.of(events + " " + ORDER) : List.of());
	}

	@Test
	void keepTheWorkOfADecline() {
		int before = application.bean(Orders.class).declined();
		assertThat(application.post("/empty/400", "{}").statusCode()).isEqualTo(400);
		assertThat(application.bean(Orders.class).declined()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/views/custom", "/views/custom/model", "/views/custom/asked", "/views/forward",
			"/views/forward/model", "/views/later", "/views/custom/fragment", "/views/custom/fragments" })
	void rollBackIfTheirStatusIsUnknown(String path, CapturedOutput output) {
		int before = application.bean(Orders.class).declined();
		assertThat(application.post(path, ORDER).statusCode()).isEqualTo(500);
		assertThat(application.bean(Orders.class).declined()).isEqualTo(before);
		assertThat(delivered()).isEmpty();
		assertThat(output).contains("is not known when it returns: it has returned ",
				"Return a ResponseEntity or the name of a view, or append the event in a service.");
	}

	@Test
	void rollBackIfTheirEventNeedsABodyThatIsMissing() {
		assertThat(application.post("/empty/200", "{}").statusCode()).isEqualTo(500);
		assertThat(delivered()).isEmpty();
	}

	/**
	 * The types and payloads, once there is nothing left to deliver.
	 */
	private static List<String> delivered() {
		JdbcClient database = application.bean(JdbcClient.class);
		await().untilAsserted(
				() -> assertThat(database.sql("select count(*) from outbox_event").query(Integer.class).single())
					.isZero());
		return application.bean(RecordingPublisher.class)
			.published()
			.stream()
			.map((event) -> event.type() + " " + new String(event.payload(), StandardCharsets.UTF_8))
			.toList();
	}

	record PlacedOrder(String id) {
	}

	@RestController
	@Transactional
	static class Orders {

		private final JdbcClient database;

		private final Audit audit;

		Orders(JdbcClient database, Audit audit) {
			this.database = database;
			this.audit = audit;
			database.sql("create table declined (id int)").update();
		}

		int declined() {
			return this.database.sql("select count(*) from declined").query(Integer.class).single();
		}

		@PostMapping("/entities/{status}")
		@TransactionalOutbox(type = "created", key = "#result.id")
		public ResponseEntity<PlacedOrder> entity(@PathVariable int status) {
			return ResponseEntity.status(status).body(new PlacedOrder("o-1"));
		}

		@PostMapping("/keyed/{code}")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@TransactionalOutbox(type = "created")
		public ResponseEntity<PlacedOrder> keyed(@PathVariable int code) {
			return entity(code);
		}

		@PostMapping("/empty/{code}")
		@TransactionalOutbox(type = "created")
		public ResponseEntity<PlacedOrder> empty(@PathVariable int code) {
			this.database.sql("insert into declined values (1)").update();
			return ResponseEntity.status(code).build();
		}

		@PostMapping("/plain/{code}")
		@TransactionalOutbox(type = "created")
		public PlacedOrder plain(@PathVariable int code, HttpServletResponse response) {
			response.setStatus(code);
			return new PlacedOrder("o-1");
		}

		@PostMapping("/plain/sent")
		@TransactionalOutbox(type = "created")
		public PlacedOrder sent(HttpServletResponse response) throws IOException {
			response.sendError(418);
			return new PlacedOrder("o-1");
		}

		@PostMapping("/annotated")
		@ResponseStatus(HttpStatus.GONE)
		@TransactionalOutbox(type = "created")
		public PlacedOrder annotated() {
			return new PlacedOrder("o-1");
		}

		@PostMapping("/annotated/entity")
		@ResponseStatus(HttpStatus.GONE)
		@TransactionalOutbox(type = "created")
		public ResponseEntity<PlacedOrder> overridden() {
			return entity(201);
		}

		@PostMapping("/problems")
		@TransactionalOutbox(type = "created")
		public ProblemDetail problem() {
			return ProblemDetail.forStatus(422);
		}

		@PostMapping("/http-entities/{code}")
		@TransactionalOutbox(type = "created")
		public HttpEntity<PlacedOrder> httpEntity(@PathVariable int code, HttpServletResponse response) {
			response.setStatus(code);
			return new HttpEntity<>(new PlacedOrder("o-1"));
		}

		@PostMapping("/asked/{code}")
		@TransactionalOutbox(type = "created", condition = "#status < 400")
		@TransactionalOutbox(type = "declined", condition = "#status == 404")
		public ResponseEntity<PlacedOrder> asked(@PathVariable int code) {
			return entity(code);
		}

		@PostMapping("/each/{code}")
		@TransactionalOutbox(type = "created", forEach = true, condition = "#status < 400")
		public ResponseEntity<List<PlacedOrder>> each(@PathVariable int code) {
			return ResponseEntity.status(code).body((code < 400) ? List.of(new PlacedOrder("o-1")) : null);
		}

		@PostMapping("/audited")
		public Map<String, String> audited(HttpServletResponse response) {
			response.setStatus(422);
			return Map.of("id", this.audit.record().id());
		}

	}

	@RestController
	@Transactional
	static class Senders {

		@PostMapping("/sent/annotated")
		@ResponseStatus(HttpStatus.CREATED)
		@TransactionalOutbox(type = "created")
		public PlacedOrder annotated(HttpServletResponse response) throws IOException {
			response.sendError(409);
			return new PlacedOrder("o-1");
		}

		@PostMapping("/sent/entity")
		@TransactionalOutbox(type = "created")
		public ResponseEntity<PlacedOrder> entity(HttpServletResponse response) throws IOException {
			return ResponseEntity.ok(annotated(response));
		}

		@PostMapping("/sent/keyed")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@ResponseStatus(HttpStatus.CREATED)
		@TransactionalOutbox(type = "created")
		public PlacedOrder keyed(HttpServletResponse response) throws IOException {
			return annotated(response);
		}

		@PostMapping("/sent/reason")
		@ResponseStatus(code = HttpStatus.CREATED, reason = "Created")
		@TransactionalOutbox(type = "created")
		public PlacedOrder reason(HttpServletResponse response) throws IOException {
			return annotated(response);
		}

		@PostMapping("/sent/asked")
		@ResponseStatus(HttpStatus.CREATED)
		@TransactionalOutbox(type = "created", condition = "#status < 400")
		@TransactionalOutbox(type = "declined", condition = "#status == 409")
		public PlacedOrder asked(HttpServletResponse response) throws IOException {
			return annotated(response);
		}

		@PostMapping("/set/{code}")
		@ResponseStatus(HttpStatus.CREATED)
		@TransactionalOutbox(type = "created")
		public PlacedOrder set(@PathVariable int code, HttpServletResponse response) {
			response.setStatus(code);
			return new PlacedOrder("o-1");
		}

		/**
		 * Not a name of a view.
		 */
		@PostMapping("/texts")
		@TransactionalOutbox(type = "created", payload = "#order")
		public String text(@RequestBody PlacedOrder order) {
			return "forward:/refused";
		}

	}

	@Controller
	@Transactional
	static class Views {

		private final JdbcClient database;

		Views(JdbcClient database) {
			this.database = database;
		}

		@PostMapping("/views/fragments/{code}")
		@TransactionalOutbox(type = "created", payload = "#order")
		public FragmentsRendering fragments(@RequestBody PlacedOrder order, @PathVariable int code) {
			return FragmentsRendering.fragments(List.of()).status(HttpStatusCode.valueOf(code)).build();
		}

		@PostMapping("/views/redirects/{code}")
		@TransactionalOutbox(type = "created", payload = "#order")
		public RedirectView redirect(@RequestBody PlacedOrder order, @PathVariable int code) {
			RedirectView view = new RedirectView("/elsewhere");
			view.setStatusCode(HttpStatusCode.valueOf(code));
			return view;
		}

		@PostMapping("/views/redirect")
		@TransactionalOutbox(type = "created", payload = "#order")
		public RedirectView redirect(@RequestBody PlacedOrder order, HttpServletResponse response) {
			response.setStatus(409);
			return new RedirectView("/elsewhere");
		}

		@PostMapping("/views/redirects/named")
		@TransactionalOutbox(type = "created", payload = "#order")
		public String redirectByName(@RequestBody PlacedOrder order, HttpServletResponse response) {
			response.setStatus(409);
			return "redirect:/elsewhere";
		}

		@PostMapping("/views/redirects/annotated")
		@ResponseStatus(HttpStatus.CONFLICT)
		@TransactionalOutbox(type = "created", payload = "#order")
		public String redirectByNameOnly(@RequestBody PlacedOrder order) {
			return "redirect:/elsewhere";
		}

		@PostMapping("/texts/redirect")
		@ResponseBody
		@TransactionalOutbox(type = "created", payload = "#order")
		public String text(@RequestBody PlacedOrder order, HttpServletResponse response) {
			return redirectByName(order, response);
		}

		@PostMapping("/views/models/{code}")
		@TransactionalOutbox(type = "created", payload = "#order")
		public ModelAndView model(@RequestBody PlacedOrder order, @PathVariable int code) {
			return new ModelAndView(redirect(order, code));
		}

		@PostMapping("/views/models/status")
		@TransactionalOutbox(type = "created", payload = "#order")
		public ModelAndView model(@RequestBody PlacedOrder order) {
			ModelAndView model = new ModelAndView(new RedirectView("/elsewhere"));
			model.setStatus(HttpStatus.GONE);
			return model;
		}

		@PostMapping("/views/custom")
		@TransactionalOutbox(type = "created", payload = "#order")
		public View custom(@RequestBody PlacedOrder order) {
			return rendered(409);
		}

		@PostMapping("/views/custom/model")
		@TransactionalOutbox(type = "created", payload = "#order")
		public ModelAndView customModel(@RequestBody PlacedOrder order) {
			return new ModelAndView(custom(order));
		}

		@PostMapping("/views/custom/asked")
		@TransactionalOutbox(type = "created", payload = "#order", condition = "#status < 400")
		public View customAsked(@RequestBody PlacedOrder order) {
			return custom(order);
		}

		@PostMapping("/views/custom/fragment")
		@TransactionalOutbox(type = "created", payload = "#order")
		public FragmentsRendering customFragment(@RequestBody PlacedOrder order) {
			return FragmentsRendering.fragments(customFragments(order)).build();
		}

		@PostMapping("/views/custom/fragments")
		@TransactionalOutbox(type = "created", payload = "#order")
		public List<ModelAndView> customFragments(@RequestBody PlacedOrder order) {
			return List.of(new ModelAndView(custom(order)));
		}

		@PostMapping("/views/forward")
		@TransactionalOutbox(type = "created", payload = "#order")
		public String forward(@RequestBody PlacedOrder order) {
			custom(order);
			return "forward:/entities/409";
		}

		@PostMapping("/views/forward/model")
		@TransactionalOutbox(type = "created", payload = "#order")
		public ModelAndView forwardModel(@RequestBody PlacedOrder order) {
			return new ModelAndView(forward(order));
		}

		@PostMapping("/views/later")
		@TransactionalOutbox(type = "created", payload = "#order")
		public Object later(@RequestBody PlacedOrder order) {
			custom(order);
			return CompletableFuture.completedFuture(ResponseEntity.status(409).build());
		}

		private View rendered(int status) {
			this.database.sql("insert into declined values (1)").update();
			return (model, request, response) -> response.setStatus(status);
		}

	}

	/**
	 * Appends an event for a handler that declines.
	 */
	@Service
	static class Audit {

		@Transactional
		@TransactionalOutbox(type = "audited")
		public PlacedOrder record() {
			return new PlacedOrder("o-1");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, Senders.class, Views.class, Audit.class })
	static class Application {

		@Bean
		RecordingPublisher publisher() {
			return new RecordingPublisher();
		}

	}

}
