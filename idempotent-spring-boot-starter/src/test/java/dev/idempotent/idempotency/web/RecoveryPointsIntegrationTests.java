package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.IdempotencyTemplate;
import dev.idempotent.testing.ForkedApplication;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;

/**
 * A handler with two steps in several instances, with its keys in Redis or in PostgreSQL.
 */
class RecoveryPointsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final Map<String, List<WebApplication>> instances = new HashMap<>();

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		for (String store : List.of("redis", "jdbc")) {
			instances.put(store, List.of(instance(store), instance(store)));
		}
	}

	@AfterAll
	static void stop() {
		instances.values().forEach((some) -> some.forEach(WebApplication::close));
	}

	@Tag("long")
	@ParameterizedTest
	@ValueSource(strings = { "redis", "jdbc" })
	void continueInAnotherProcessAfterTheirOwnDied(String store) throws Exception {
		try (ForkedApplication dying = ForkedApplication.start(Application.class, redis, "256m", properties(store))) {
			assertThatIOException().isThrownBy(() -> post(dying, "die"));
		}
		assertThat(effects("charge")).hasSize(1);
		assertThat(effects("ship")).isEmpty();
		WebApplication survivor = instances(store).get(0);
		// 409 until the lease of the dead process has ended.
		HttpResponse<byte[]> answer = await().until(() -> post(survivor, "/brief", "one", ""),
				(response) -> response.statusCode() != 409);
		assertThat(answer.statusCode()).isEqualTo(200);
		assertThat(effects("charge")).hasSize(1);
		assertThat(effects("ship")).hasSize(1);
		assertThat(text(answer)).isEqualTo(effects("charge").get(0) + " " + effects("ship").get(0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "jdbc" })
	void areKeptForTheRequestThatRecordedThem(String store) {
		List<WebApplication> both = instances(store);
		assertThat(post(both.get(0), "/orders", "one", "fail").statusCode()).isEqualTo(500);
		HttpResponse<byte[]> other = post(both.get(1), "/orders", "another", "");
		assertThat(other.statusCode()).isEqualTo(422);
		assertThat(text(other)).contains("key-reused");
		assertThat(post(both.get(1), "/orders", "one", "").statusCode()).isEqualTo(200);
		assertThat(effects("charge")).hasSize(1);
		assertThat(effects("ship")).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "jdbc" })
	void endTheRunOfAnOwnerThatHasLostItsKey(String store) throws Exception {
		List<WebApplication> both = instances(store);
		Gate gate = new Gate();
		Orders late = both.get(0).bean(Orders.class);
		late.pauseAt(gate);
		CompletableFuture<HttpResponse<byte[]>> paused = both.get(0)
			.postAsync("/orders", "\"one\"", "Idempotency-Key", this.key, "X-Chaos", "pause");
		gate.awaitEntry();
		release(both.get(0), late.run(this.key));
		HttpResponse<byte[]> answer = post(both.get(1), "/orders", "one", "");
		assertThat(answer.statusCode()).isEqualTo(200);
		gate.open();
		assertThat(paused.join().statusCode()).isEqualTo(409);
		// Its first step was under way when the lease ended, the second never began.
		assertThat(effects("charge")).hasSize(2);
		assertThat(effects("ship")).hasSize(1);
		assertThat(post(both.get(0), "/orders", "one", "").body()).isEqualTo(answer.body());
	}

	/**
	 * Lets another run begin, as the end of the lease would.
	 */
	private static void release(WebApplication application, IdempotencyContext run) {
		assertThat(application.bean(IdempotencyStore.class).release(run.key(), run.token())).isTrue();
	}

	private List<String> effects(String step) {
		return instances("redis").get(0)
			.bean(JdbcClient.class)
			.sql("select id from step_effect where request = ? and step = ?")
			.params(this.key, step)
			.query(String.class)
			.list();
	}

	private HttpResponse<byte[]> post(WebApplication application, String path, String item, String chaos) {
		return application.post(path, '"' + item + '"', "Idempotency-Key", this.key, "X-Chaos", chaos);
	}

	private void post(ForkedApplication application, String chaos) throws IOException, InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(application.uri("/brief"))
			.headers("Content-Type", "application/json", "Idempotency-Key", this.key, "X-Chaos", chaos)
			.POST(BodyPublishers.ofString("\"one\""))
			.build();
		HttpClient.newHttpClient().send(request, BodyHandlers.discarding());
	}

	private static List<WebApplication> instances(String store) {
		return Objects.requireNonNull(instances.get(store));
	}

	private static WebApplication instance(String store) {
		return WebApplication.start(Application.class, redis, properties(store));
	}

	private static String[] properties(String store) {
		return Stream
			.concat(postgres.properties().stream(), Stream.of(WebApplication.WITH_DATABASE, "idempotent.store=" + store,
					"idempotent.jdbc.initialize-schema=always"))
			.toArray(String[]::new);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Application {

	}

	@RestController
	static class Orders {

		private final IdempotencyTemplate idempotency;

		private final JdbcClient database;

		private final Map<String, IdempotencyContext> runs = new ConcurrentHashMap<>();

		private volatile @Nullable Gate gate;

		Orders(IdempotencyTemplate idempotency, JdbcClient database) {
			this.idempotency = idempotency;
			this.database = database;
			database
				.sql("create table if not exists step_effect (id varchar(36), request varchar(36), step varchar(9))")
				.update();
		}

		@PostMapping("/orders")
		@Idempotent
		String place(@RequestBody String item, @RequestHeader("Idempotency-Key") String key,
				@RequestHeader("X-Chaos") String chaos) {
			return run(key, chaos);
		}

		@PostMapping("/brief")
		@Idempotent(lease = "1s")
		String placeBriefly(@RequestBody String item, @RequestHeader("Idempotency-Key") String key,
				@RequestHeader("X-Chaos") String chaos) {
			return run(key, chaos);
		}

		/**
		 * Sets where a request waits that asks for it.
		 */
		public void pauseAt(Gate closed) {
			this.gate = closed;
		}

		public IdempotencyContext run(String key) {
			return Objects.requireNonNull(this.runs.get(key));
		}

		private String run(String key, String chaos) {
			this.runs.put(key, Objects.requireNonNull(IdempotencyContext.current()));
			String charge = this.idempotency.step("charge", String.class, () -> {
				pause(chaos);
				return effect("charge", key);
			});
			String shipment = this.idempotency.step("ship", String.class, () -> {
				end(chaos);
				return effect("ship", key);
			});
			return charge + " " + shipment;
		}

		private void pause(String chaos) {
			Gate closed = this.gate;
			if (chaos.equals("pause") && closed != null) {
				try {
					closed.pass();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}
		}

		private static void end(String chaos) {
			if (chaos.equals("die")) {
				Runtime.getRuntime().halt(1);
			}
			if (chaos.equals("fail")) {
				throw new IllegalStateException("The step fails");
			}
		}

		private String effect(String step, String key) {
			String id = UUID.randomUUID().toString();
			this.database.sql("insert into step_effect values (?, ?, ?)").params(id, key, step).update();
			return id;
		}

	}

}
