package dev.idempotent.autoconfigure.saga;

import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.client.Downstream;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.method.SagaApplication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Calls of a step to a URL that belongs to no target.
 */
class UnlistedCallTests {

	private static final ClientHttpRequestFactory REQUESTS = new JdkClientHttpRequestFactory(
			HttpClient.newHttpClient());

	/**
	 * Calls the service in each attempt at the step; the last one is repeated.
	 */
	private static final BlockingQueue<Supplier<String>> attempts = new LinkedBlockingQueue<>();

	private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database, "sa", ""));

	private final Downstream listed = new Downstream();

	private final Downstream unlisted = new Downstream();

	private final RestClient client = client(List.of());

	@AfterEach
	void stop() {
		this.listed.close();
		this.unlisted.close();
		attempts.clear();
	}

	@ParameterizedTest
	@EnumSource(names = { "CALL", "UNDO" })
	void areNotMadeWhereAProcessHasDiedThatMayHaveMadeTheCall(Kind kind) {
		die(kind, List.of(this::charge));
		attempts.add(this::chargeElsewhere);
		assertThat(settle()).isEqualTo("HALTED");
		assertThat(reason()).contains("a call without a key", "an earlier attempt may have made its call",
				"idempotent.client.targets", "idempotent.client.repeatable");
		assertThat(this.listed.keys()).hasSize(1);
		assertThat(this.unlisted.keys()).isEmpty();
	}

	/**
	 * The application sends the key in a header of the service.
	 */
	@ParameterizedTest
	@EnumSource(names = { "CALL_WITH_KEY", "UNDO_WITH_KEY", "CANCELLATION_WITH_KEY" })
	void areRepeatedByAnActionOrUndoThatTakesItsKeyWhereAProcessHasDied(Kind kind) {
		die(kind, List.of(this::chargeElsewhere));
		attempts.add(this::chargeElsewhere);
		assertThat(settle()).isEqualTo((kind == Kind.CALL_WITH_KEY) ? "COMPLETED" : "COMPENSATED");
		assertThat(this.unlisted.keys()).hasSize(2);
	}

	@Test
	void areNotMadeAfterATransactionThatHasMadeTheCallAndWasRolledBack() {
		attempts.add(() -> {
			throw new CannotAcquireLockException("Deadlock after " + charge());
		});
		attempts.add(this::chargeElsewhere);
		assertThat(place(Kind.TRANSACTION)).isEqualTo("HALTED");
		assertThat(reason()).contains("a call without a key");
		assertThat(this.listed.keys()).hasSize(1);
		assertThat(this.unlisted.keys()).isEmpty();
	}

	/**
	 * The first attempt has proven that it made no call, the second one has not.
	 */
	@Test
	void areNotMadeAfterAnAttemptThatFollowedOneWithoutACall() {
		die(Kind.CALL, List.of(UnlistedCallTests::fail, this::charge));
		attempts.add(this::chargeElsewhere);
		assertThat(settle()).isEqualTo("HALTED");
		assertThat(this.listed.keys()).hasSize(1);
		assertThat(this.unlisted.keys()).isEmpty();
	}

	@Test
	void areRepeatedAfterAttemptsThatHaveMadeNoOther() {
		this.unlisted.willAnswer(503, Downstream.SILENCE, 200);
		attempts.add(this::chargeElsewhere);
		assertThat(place(Kind.CALL)).isEqualTo("done");
		assertThat(this.unlisted.keys()).containsExactly("none", "none", "none");
	}

	@Test
	void areRefusedAndTheStepIsRepeatedWhileItsCallIsOpen() {
		attempts.add(() -> alerting(this.client));
		this.listed.willAnswer(503, 200);
		assertThat(place(Kind.CALL)).isEqualTo("done");
		assertThat(this.listed.keys()).hasSize(2);
		assertThat(this.unlisted.keys()).isEmpty();
	}

	@Test
	void areRefusedWhereARequestOfATokenComesBeforeTheRepeatedCall() {
		attempts.add(() -> withToken(this.client));
		this.listed.willAnswer(503, 200);
		assertThat(place(Kind.CALL)).isEqualTo("HALTED");
		assertThat(reason()).contains("a call without a key", "idempotent.client.repeatable")
			.doesNotContain("second call", "another call");
		assertThat(this.unlisted.keys()).hasSize(1);
	}

	@Test
	void areMadeToServicesThatAreRepeatable() {
		RestClient repeatable = client(List.of(this.unlisted.url()));
		for (Supplier<String> attempt : List.<Supplier<String>>of(() -> alerting(repeatable),
				() -> withToken(repeatable), () -> nested(repeatable))) {
			int before = this.listed.keys().size();
			attempts.add(attempt);
			this.listed.willAnswer(503, 200);
			assertThat(place(Kind.CALL)).isEqualTo("done");
			assertThat(this.listed.keys()).hasSize(before + 2);
			assertThat(this.listed.keys().get(before)).isEqualTo(this.listed.keys().get(before + 1));
			attempts.clear();
		}
		assertThat(this.unlisted.keys()).isNotEmpty().containsOnly("none");
	}

	private String charge() {
		return post(this.client, this.listed, "charge");
	}

	private String chargeElsewhere() {
		return post(this.client, this.unlisted, "charge");
	}

	private static String fail() {
		throw new IllegalStateException("There is no call yet");
	}

	private String withToken(RestClient chosen) {
		post(chosen, this.unlisted, "token");
		return post(chosen, this.listed, "charge");
	}

	private String alerting(RestClient chosen) {
		try {
			return post(chosen, this.listed, "charge");
		}
		catch (RuntimeException ex) {
			try {
				post(chosen, this.unlisted, "alert");
			}
			catch (RuntimeException ignored) {
				// An alert may fail.
			}
			throw ex;
		}
	}

	/**
	 * An inner interceptor requests a token while the call begins.
	 */
	private String nested(RestClient chosen) {
		return post(chosen.mutate().requestInterceptor((request, body, execution) -> {
			request.getHeaders().setBearerAuth(post(chosen, this.unlisted, "token"));
			return execution.execute(request, body);
		}).build(), this.listed, "charge");
	}

	private static String post(RestClient chosen, Downstream service, String body) {
		return String
			.valueOf(chosen.post().uri(service.url() + "/" + body + "s").body(body).retrieve().body(String.class));
	}

	private RestClient client(List<String> repeatable) {
		return RestClient.builder()
			.requestFactory(REQUESTS)
			.requestInterceptor(new IdempotencyKeyInterceptor(
					PropagationTargets.of(Map.of("pay", List.of(this.listed.url())), repeatable)))
			.build();
	}

	/**
	 * Runs a saga in an instance that dies within its last attempt.
	 */
	private void die(Kind kind, List<Supplier<String>> all) {
		CountDownLatch sent = new CountDownLatch(1);
		CountDownLatch never = new CountDownLatch(1);
		List<Supplier<String>> made = new ArrayList<>(all);
		Supplier<String> last = made.remove(made.size() - 1);
		attempts.addAll(made);
		attempts.add(() -> {
			String result = last.get();
			sent.countDown();
			try {
				never.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			return result;
		});
		application().withPropertyValues("idempotent.saga.lease=500ms").run((context) -> {
			Shop shop = context.getBean(Shop.class);
			Thread caller = new Thread(() -> call(shop, "1", kind));
			caller.setDaemon(true);
			caller.start();
			sent.await();
		});
		attempts.clear();
	}

	private String settle() {
		List<String> status = new ArrayList<>();
		application().run((context) -> {
			await().until(() -> this.jdbc.queryForList(
					"select status from saga_instance where status not in ('EXECUTING', 'COMPENSATING')", String.class),
					(ended) -> !ended.isEmpty());
			status.addAll(this.jdbc.queryForList("select status from saga_instance", String.class));
		});
		return String.join(", ", status);
	}

	private String place(Kind kind) {
		List<String> result = new ArrayList<>();
		String id = UUID.randomUUID().toString();
		application().run((context) -> {
			Shop shop = context.getBean(Shop.class);
			result.add(await().until(() -> call(shop, id, kind), (outcome) -> !outcome.equals("open")));
		});
		return String.join(", ", result);
	}

	private static String call(Shop shop, String id, Kind kind) {
		try {
			return shop.place(id, kind);
		}
		catch (IdempotencyPendingException ex) {
			return "open";
		}
		catch (SagaHaltedException ex) {
			return "HALTED";
		}
		catch (SagaCompensatedException ex) {
			return "COMPENSATED";
		}
	}

	private String reason() {
		return String.valueOf(this.jdbc.queryForObject("select halt_reason from saga_instance", String.class));
	}

	private ApplicationContextRunner application() {
		return SagaApplication.with(Shop.class)
			.withConfiguration(AutoConfigurations.of(JdbcTemplateAutoConfiguration.class))
			.withPropertyValues("idempotent.saga.initialize-schema=always", "idempotent.saga.wait-timeout=1ms",
					"spring.datasource.generate-unique-name=false", "spring.datasource.url=" + this.database,
					"spring.datasource.username=sa");
	}

	enum Kind {

		CALL, UNDO, TRANSACTION, CALL_WITH_KEY, UNDO_WITH_KEY, CANCELLATION_WITH_KEY

	}

	static class Shop {

		private final SagaSteps saga;

		Shop(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(name = "unlisted-calls", key = "#id")
		public String place(String id, Kind kind) {
			this.saga.step("order").runInTransaction(() -> {
			});
			if (kind == Kind.TRANSACTION) {
				return this.saga.step("charge", String.class).runInTransaction(UnlistedCallTests::next);
			}
			if (kind == Kind.UNDO) {
				this.saga.step("charge", String.class).compensate(UnlistedCallTests::next).run(() -> "charged");
				throw new UnsupportedOperationException("Undo");
			}
			if (kind == Kind.UNDO_WITH_KEY) {
				this.saga.step("charge", String.class)
					.compensate((charge, key) -> UnlistedCallTests.next())
					.run(() -> "charged");
				throw new UnsupportedOperationException("Undo");
			}
			if (kind == Kind.CANCELLATION_WITH_KEY) {
				this.saga.step("charge", String.class)
					.cancel((key) -> UnlistedCallTests.next())
					.run((key) -> "charged");
				throw new UnsupportedOperationException("Undo");
			}
			return (kind == Kind.CALL_WITH_KEY)
					? this.saga.step("charge", String.class).run((key) -> UnlistedCallTests.next())
					: this.saga.step("charge", String.class).run(UnlistedCallTests::next);
		}

	}

	private static String next() {
		Supplier<String> attempt = (attempts.size() > 1) ? attempts.remove() : attempts.element();
		return attempt.get();
	}

}
