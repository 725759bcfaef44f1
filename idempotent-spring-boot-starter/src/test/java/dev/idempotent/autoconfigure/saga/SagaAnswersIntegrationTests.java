package dev.idempotent.autoconfigure.saga;

import java.io.EOFException;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests whose handlers call sagas, on real servers.
 */
class SagaAnswersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(SagaAnswersIntegrationTests::start);

	private final String key = UUID.randomUUID().toString();

	private static WebApplication start() {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
				"idempotent.jdbc.table=answered_record", "idempotent.saga.initialize-schema=always",
				"idempotent.saga.table-prefix=answered_saga_", "idempotent.saga.wait-timeout=300ms"));
		return WebApplication.start(Application.class, redis, properties.toArray(String[]::new));
	}

	@Test
	void replayTheResultOfASaga() {
		HttpResponse<byte[]> first = send("/orders", "fine");
		assertThat(first.statusCode()).isEqualTo(200);
		HttpResponse<byte[]> second = send("/orders", "fine");
		assertThat(text(second)).isEqualTo(text(first)).startsWith("placed fine");
		assertThat(second.headers().firstValue("Idempotent-Replayed")).isPresent();
		assertThat(runs("fine")).isOne();
	}

	@Test
	void replayThatASagaWasUndone() {
		HttpResponse<byte[]> first = send("/orders", "refused");
		assertProblem(first, "saga-compensated");
		assertThat(text(first)).doesNotContain("out of stock");
		HttpResponse<byte[]> second = send("/orders", "refused");
		assertProblem(second, "saga-compensated");
		assertThat(second.headers().firstValue("Idempotent-Replayed")).isPresent();
		assertThat(runs("refused")).isOne();
	}

	@Test
	void asksToRetryWhileASagaIsOpen() {
		Shop shop = application.bean(Shop.class);
		shop.fail("flaky-" + this.key, true);
		HttpResponse<byte[]> pending = send("/orders", "flaky-" + this.key);
		assertProblem(pending, "in-progress");
		assertThat(pending.headers().firstValue("Retry-After")).isPresent();
		shop.fail("flaky-" + this.key, false);
		await().untilAsserted(
				() -> assertThat(text(send("/orders", "flaky-" + this.key))).startsWith("placed flaky-" + this.key));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/orders", "/plain" })
	void doNotFreezeAHaltedSaga(String path) {
		String what = "stuck-" + this.key;
		assertProblem(send(path, what), "saga-halted");
		HttpResponse<byte[]> second = send(path, what);
		assertProblem(second, "saga-halted");
		assertThat(second.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(second.headers().firstValue("Retry-After")).isEmpty();
	}

	@Test
	void reportThatTheDatabaseIsAway() {
		application.bean(Outage.class).began = true;
		try {
			assertThat(send("/plain", "away-" + this.key).statusCode()).isEqualTo(500);
		}
		finally {
			application.bean(Outage.class).began = false;
		}
		assertThat(text(send("/plain", "away-" + this.key))).startsWith("placed away");
	}

	@Test
	void reportThatAStepHasLostTheDatabase() {
		assertThat(send("/plain", "broken-" + this.key).statusCode()).isEqualTo(500);
	}

	@Test
	void startASagaInTheTransactionOfAHandler() {
		HttpResponse<byte[]> first = send("/background", "later-" + this.key);
		assertThat(first.statusCode()).isEqualTo(202);
		assertThat(text(send("/background", "later-" + this.key))).isEqualTo(text(first));
		await().untilAsserted(() -> assertThat(runs("later-" + this.key)).isOne());
	}

	@Test
	void startNoSagaInATransactionThatRollsBack() {
		assertThat(send("/background", "bad-" + this.key).statusCode()).isEqualTo(500);
		assertThat(send("/background", "bad-" + this.key).statusCode()).isEqualTo(500);
		assertThat(text(send("/found", "bad-" + this.key))).isEqualTo("false");
	}

	private HttpResponse<byte[]> send(String path, String what) {
		return application.post(path, '"' + what + '"', "Idempotency-Key", this.key);
	}

	private static int runs(String what) {
		return application.bean(Shop.class).runs(what);
	}

	@EnableAutoConfiguration
	@Import({ Orders.class, Checkout.class, Shop.class, Outage.class })
	static class Application {

	}

	@RestController
	static class Orders {

		private final Checkout checkout;

		private final Sagas sagas;

		private volatile String bad = "";

		Orders(Checkout checkout, Sagas sagas) {
			this.checkout = checkout;
			this.sagas = sagas;
		}

		@Idempotent
		@PostMapping("/orders")
		String place(@RequestBody String what) {
			return this.checkout.place(what.replace("\"", ""));
		}

		@PostMapping("/plain")
		String placePlain(@RequestBody String what) {
			return this.checkout.placeOnce(what.replace("\"", ""));
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/background")
		ResponseEntity<String> start(@RequestBody String what) {
			String id = this.sagas.start(() -> this.checkout.placeOnce(what.replace("\"", ""))).digest();
			if (what.contains("bad-")) {
				this.bad = id;
				throw new IllegalStateException("Rolled back");
			}
			return ResponseEntity.accepted().body(id);
		}

		@PostMapping("/found")
		boolean found() {
			return this.sagas.find(new IdempotencyKey(this.bad)).isPresent();
		}

	}

	static class Checkout {

		private final SagaSteps saga;

		private final Shop shop;

		Checkout(SagaSteps saga, Shop shop) {
			this.saga = saga;
			this.shop = shop;
		}

		@Saga(name = "Checkout.place")
		public String place(String what) {
			return run(what);
		}

		@Saga(key = "#what", name = "Checkout.placeOnce")
		public String placeOnce(String what) {
			return run(what);
		}

		private String run(String what) {
			this.saga.step("reserve", String.class)
				.compensate((reserved) -> this.shop.release(what))
				.runInTransaction(() -> this.shop.reserve(what));
			return this.saga.step("place", String.class).run(() -> this.shop.place(what));
		}

	}

	static class Shop {

		private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();

		private final Map<String, Boolean> failing = new ConcurrentHashMap<>();

		/**
		 * Fails as work does that uses the driver without Spring.
		 */
		String reserve(String what) {
			if (what.startsWith("broken")) {
				throw new IllegalStateException(new SQLException("An I/O error occurred", "08006", new EOFException()));
			}
			return "reserved " + what;
		}

		String place(String what) {
			if (this.failing.getOrDefault(what, false)) {
				throw new IllegalStateException("No answer");
			}
			this.runs.computeIfAbsent(what, (unused) -> new AtomicInteger()).incrementAndGet();
			if (what.equals("refused") || what.startsWith("stuck")) {
				throw new StepRefusedException("out of stock");
			}
			return "placed " + what + " as " + UUID.randomUUID();
		}

		void release(String what) {
			if (what.startsWith("stuck")) {
				throw new StepRefusedException("not released");
			}
		}

		void fail(String what, boolean fails) {
			this.failing.put(what, fails);
		}

		int runs(String what) {
			AtomicInteger counted = this.runs.get(what);
			return (counted != null) ? counted.get() : 0;
		}

	}

	/**
	 * The connection to the database ends, as the driver of PostgreSQL reports it.
	 */
	static class Outage implements BeanPostProcessor {

		private volatile boolean began;

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			return !(bean instanceof DataSource source) ? bean : new DelegatingDataSource(source) {
				@Override
				public Connection getConnection() throws SQLException {
					if (Outage.this.began) {
						throw new SQLException("An I/O error occurred", "08006", new EOFException());
					}
					return super.getConnection();
				}
			};
		}

	}

}
