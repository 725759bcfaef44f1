package dev.idempotent.outbox.method;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;

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
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The events of web handlers that decline by what they return.
 */
class HandlerEventsIntegrationTests {

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
			"/each/200, 200, created", "/each/404, 404, ", "/audited, 422, audited" })
	void followFromTheStatusThatTheClientGets(String path, int status, String events) {
		assertThat(application.post(path, "{}", "Idempotency-Key", UUID.randomUUID().toString()).statusCode())
			.isEqualTo(status);
		assertThat(delivered()).isEqualTo((events != null) ? List.of(events + " " + ORDER) : List.of());
	}

	@Test
	void keepTheWorkOfADecline() {
		int before = application.bean(Orders.class).declined();
		assertThat(application.post("/empty/400", "{}").statusCode()).isEqualTo(400);
		assertThat(application.bean(Orders.class).declined()).isEqualTo(before + 1);
	}

	@Test
	void cannotBeMadeOfABodyThatIsMissing() {
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
	@Import({ Orders.class, Audit.class })
	static class Application {

		@Bean
		RecordingPublisher publisher() {
			return new RecordingPublisher();
		}

	}

}
