package dev.idempotent.autoconfigure.actuate;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.idempotent.autoconfigure.actuate.SagaShop.Checkout;
import dev.idempotent.autoconfigure.actuate.SagaShop.Warehouse;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.json.JsonMapper;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * What another site can have the browser of an operator send, if the actuator is exempt
 * from CSRF protection: requests without a preflight, which have no JSON.
 */
class CrossSiteRequestsTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Map<String, String> ALL = Map.of("all", "true", "note", "a note");

	private final IdempotencyKey pending = Samples.key();

	private final IdempotencyKey completed = Samples.key();

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void changeNothing(String container) {
		try (WebApplication application = WebApplication.start(Shop.class, List::of, "test.container=" + container,
				WebApplication.WITH_DATABASE, "spring.datasource.generate-unique-name=true",
				"idempotent.outbox.default-topic=test:orders", "idempotent.outbox.initialize-schema=always",
				"idempotent.outbox.on-dead=block", "management.health.redis.enabled=false",
				"management.endpoints.web.exposure.include=outbox,saga,idempotency")) {
			String saga = prepare(application);
			List<Object> before = state(application);
			assertThat(before.toString()).contains("DEAD", "BLOCKED", "PAUSED", "HALTED", "PENDING", "COMPLETED");
			operations(saga).forEach((path, parameters) -> {
				for (HttpRequest request : simpleRequests(application, "/actuator/" + path, parameters)) {
					assertThat(application.send(request).statusCode()).as("%s %s", request, request.headers())
						.isBetween(400, 499);
				}
				assertThat(preflight(application, "/actuator/" + path, "POST")).isEmpty();
				assertThat(preflight(application, "/actuator/" + path, "DELETE")).isEmpty();
			});
			assertThat(state(application)).isEqualTo(before);
			assertThat(text(application.post("/actuator/outbox/retry", "{\"all\":true}"))).isEqualTo("{\"retried\":1}");
		}
	}

	private Map<String, Map<String, String>> operations(String saga) {
		return Map.ofEntries(Map.entry("outbox/retry", ALL), Map.entry("outbox/discard", ALL),
				Map.entry("outbox/retry-blocked", ALL), Map.entry("outbox/skip-blocked", ALL),
				Map.entry("outbox/discard-blocked", ALL), Map.entry("outbox/pause", Map.of("topic", "test:orders")),
				Map.entry("outbox/skip-unserved", Map.of("topic", "other:orders")),
				Map.entry("outbox/resume", Map.of("topic", "test:paused")),
				Map.entry("saga/" + saga + "/retry", Map.of()),
				Map.entry("saga/" + saga + "/skip", Map.of("step", "hold", "note", "a note")),
				Map.entry("saga/" + saga + "/abort", Map.of("note", "a note")),
				Map.entry("saga/" + saga + "/close", Map.of("haltedAt", "2026-01-01T00:00:00Z", "note", "a note")),
				Map.entry("saga/retry", ALL), Map.entry("saga/find", Map.of("name", "checkout", "key", "4711")),
				Map.entry("idempotency", Map.of("key", "4711")),
				Map.entry("idempotency/" + this.pending + "/release", Map.of()),
				Map.entry("idempotency/" + this.completed + "/forget", Map.of("note", "a note")));
	}

	/**
	 * What a form, an image or a fetch without a preflight can send.
	 */
	private static List<HttpRequest> simpleRequests(WebApplication application, String path,
			Map<String, String> parameters) {
		String form = parameters.entrySet()
			.stream()
			.map((entry) -> entry.getKey() + "=" + URLEncoder.encode(entry.getValue(), StandardCharsets.UTF_8))
			.collect(Collectors.joining("&"));
		String json = JsonMapper.shared().writeValueAsString(parameters);
		return List.of(post(application, path, "text/plain", json),
				post(application, path, "text/plain; charset=application/json", json),
				post(application, path, "application/x-www-form-urlencoded", form),
				post(application, path + "?" + form, "application/x-www-form-urlencoded", ""),
				post(application, path + "?" + form, "multipart/form-data; boundary=x", "--x--\r\n"),
				origin(application, path + "?" + form).POST(BodyPublishers.noBody()).build(),
				origin(application, path).POST(BodyPublishers.ofString(json)).build());
	}

	private static HttpRequest post(WebApplication application, String path, String type, String body) {
		return origin(application, path).header("Content-Type", type).POST(BodyPublishers.ofString(body)).build();
	}

	private static List<String> preflight(WebApplication application, String path, String method) {
		HttpResponse<byte[]> response = application.send(origin(application, path)
			.headers("Access-Control-Request-Method", method, "Access-Control-Request-Headers", "content-type")
			.method("OPTIONS", BodyPublishers.noBody())
			.build());
		return response.headers().allValues("Access-Control-Allow-Origin");
	}

	private static HttpRequest.Builder origin(WebApplication application, String path) {
		return application.request(path).header("Origin", "https://other.example");
	}

	private String prepare(WebApplication application) {
		application.bean(RecordingPublisher.class).answer((event) -> new Outcome.Reject("No such topic"));
		new TransactionTemplate(application.bean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
			application.bean(Outbox.class).append(OutboxEvent.of("one", "payload"));
			application.bean(Outbox.class).append(OutboxEvent.of("two", "payload").withKey("key"));
		});
		application.bean(TopicControl.class).pause("test:paused");
		IdempotencyStore store = application.bean(IdempotencyStore.class);
		store.claim(this.pending, Fingerprint.of(List.of()), "owner", HOUR);
		store.complete(this.completed, Fingerprint.of(List.of()), "owner", Samples.response("response"), HOUR);
		application.bean(Warehouse.class).acceptReturns(false);
		await().until(() -> state(application).toString().contains("BLOCKED")
				&& state(application).toString().contains("DEAD"));
		return catchThrowableOfType(SagaHaltedException.class,
				() -> application.bean(Checkout.class).place("4711", "refused"))
			.id()
			.digest();
	}

	private List<Object> state(WebApplication application) {
		JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
		IdempotencyStore store = application.bean(IdempotencyStore.class);
		return List.of(jdbc.queryForList("select 'DEAD', event_id from outbox_dead"), jdbc.queryForList(
				"select case when last_error is null then '' else 'BLOCKED' end, event_id, attempts, due_at from outbox_event"),
				application.bean(TopicControl.class)
					.paused()
					.stream()
					.map((topic) -> "PAUSED " + topic.topic())
					.toList(),
				jdbc.queryForList("select id, status from saga_instance"),
				jdbc.queryForList("select saga_id, name, state from saga_step order by name"),
				stateOf(store, this.pending), stateOf(store, this.completed));
	}

	private static String stateOf(IdempotencyStore store, IdempotencyKey key) {
		StoredKey found = store.find(key);
		return (found != null) ? found.state().name() : "absent";
	}

	@Configuration(proxyBeanMethods = false)
	static class Shop extends SagaShop {

		@Bean
		IdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

		@Bean
		RecordingPublisher publisher() {
			return new RecordingPublisher();
		}

	}

}
