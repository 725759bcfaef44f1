package dev.idempotent.autoconfigure.saga;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import dev.idempotent.autoconfigure.idempotency.ImportClient;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.saga.method.SagaCalls;
import dev.idempotent.testing.ScriptedProvider;
import dev.idempotent.testing.ScriptedProvider.Answer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

import static dev.idempotent.testing.ScriptedProvider.Answer.answer;
import static dev.idempotent.testing.ScriptedProvider.Answer.gateway;
import static dev.idempotent.testing.ScriptedProvider.Answer.lost;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Sagas at a payment provider, and which of its responses they believe.
 */
class StepEvidenceTests {

	private static final String CHARGED = "{\"id\":\"ch_1\"}";

	private static final String REFUNDED = "{\"id\":\"re_1\"}";

	private static final AtomicReference<Consumer<Booking>> plan = new AtomicReference<>();

	private final ScriptedProvider provider = new ScriptedProvider();

	@AfterEach
	void close() {
		this.provider.close();
	}

	/**
	 * The provider takes the key in a header of its own.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "", "<html>Please log in</html>" })
	void isRequiredOfACallThatCarriesNoKeyForThisLibrary(String text) {
		this.provider.says("/charges", gateway(200, text), answer(200, CHARGED).done());
		this.provider.says("/refunds", gateway(200, text), answer(200, REFUNDED).done());
		OperatedSaga ended = place(unlisted(), (booking) -> {
			booking.saga.step("charge", String.class)
				.provenBy("/id", "/error/code")
				.compensate((charge, key) -> booking.send("/refunds", key))
				.run((key) -> booking.send("/charges", key));
			throw new UnsupportedOperationException("Undo");
		});
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.provider.book()).containsExactly("/charges", "/refunds");
	}

	@ParameterizedTest
	@ValueSource(ints = { 200, 404 })
	void isRequiredOfAStepThatOnlyLooksUp(int status) {
		this.provider.says("/charges/1", gateway(status, ""), answer(200, CHARGED));
		AtomicReference<String> found = new AtomicReference<>();
		OperatedSaga ended = place(unlisted(), (booking) -> found
			.set(booking.saga.step("find", String.class).provenBy("/id").run(() -> booking.get("/charges/1"))));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(found).hasValue(CHARGED);
	}

	@Test
	void isEachOfSeveral() {
		this.provider.says("/charges/1", answer(200, CHARGED), answer(200, "{\"id\":\"1\",\"receipt\":\"2\"}"));
		AtomicReference<String> found = new AtomicReference<>();
		OperatedSaga ended = place(unlisted(),
				(booking) -> found.set(booking.saga.step("find", String.class)
					.provenBy("/receipt")
					.provenBy("/id")
					.run(() -> booking.get("/charges/1"))));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(found.get()).contains("receipt");
	}

	/**
	 * The call that has the effect decides.
	 */
	@Test
	void isNotRequiredOfALookUpBesideTheCall() {
		this.provider.says("/charges/1", gateway(200, ""));
		this.provider.says("/charges/2", gateway(200, ""));
		this.provider.says("/charges", answer(200, CHARGED).done());
		OperatedSaga ended = place(listed(),
				(booking) -> booking.saga.step("charge", String.class)
					.provenBy("/id")
					.run(() -> booking.get("/charges/1") + booking.send("/charges", null) + booking.get("/charges/2")));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(this.provider.requests()).containsExactly("/charges/1", "/charges", "/charges/2");
	}

	@Test
	void isMissingWithoutAResponseThatCanBeJudged() {
		OperatedSaga ended = place(unlisted(),
				(booking) -> booking.saga.step("charge", String.class)
					.provenBy("/id")
					.run((key) -> "by another client"));
		assertThat(ended.status()).isEqualTo(SagaStatus.HALTED);
		assertThat(ended.haltReason()).contains("names what proves a response", "could be judged");
	}

	/**
	 * An earlier attempt, or the same request that a gateway has sent twice, is still in
	 * progress.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void isNoStatusOfARequestInProgress(boolean twice) {
		Answer inProgress = answer(422, "{\"errorCode\":\"704\"}");
		Answer first = twice ? inProgress.done() : lost().done();
		this.provider.says("/charges", first, inProgress, answer(200, CHARGED));
		OperatedSaga ended = place(honoured(),
				(booking) -> booking.saga.step("charge", String.class)
					.provenBy("/id", "/errorCode")
					.run(() -> booking.send("/charges", null)));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(this.provider.book()).containsExactly("/charges");
	}

	/**
	 * Otherwise the operator's retry would refund a second time.
	 */
	@Test
	void isMissingForAnotherKeyOfAnUndoThatMayBeInProgress() {
		Answer inProgress = answer(422, "{\"errorCode\":\"704\"}");
		this.provider.says("/charges", answer(200, CHARGED).done());
		this.provider.says("/refunds", lost().done(), inProgress);
		List<SagaStatus> statuses = new ArrayList<>();
		AtomicReference<@Nullable String> reason = new AtomicReference<>();
		place(honoured(), refunding((step) -> step), (operator, id) -> {
			OperatedSaga halted = end(operator, id);
			statuses.add(halted.status());
			reason.set(halted.haltReason());
			this.provider.says("/refunds", answer(200, REFUNDED));
			assertThat(operator.retry(id)).isTrue();
			statuses.add(end(operator, id).status());
		});
		assertThat(statuses).containsExactly(SagaStatus.HALTED, SagaStatus.COMPENSATED);
		assertThat(reason.get()).contains("422", "in progress", "undoneBy((response) -> …)");
		List<String> keys = this.provider.keys();
		assertThat(Set.copyOf(keys.subList(1, keys.size()))).as("keys of the refund").hasSize(1);
	}

	/**
	 * With keys that no one says are honoured, and with those that are.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void isNoConflictOfTheKeyHoweverOftenItComes(boolean honoured) {
		Answer inUse = answer(409, "{\"error\":{\"code\":\"idempotency_key_in_use\"}}");
		this.provider.says("/charges", inUse.done(), inUse, answer(200, CHARGED));
		OperatedSaga ended = place(honoured ? honoured() : listed(),
				(booking) -> booking.saga.step("charge", String.class)
					.refusedBy(409)
					.run(() -> booking.send("/charges", null)));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(this.provider.requests()).hasSize(3);
	}

	/**
	 * The first refund fails after all.
	 */
	@Test
	void isNoConflictForWhatWasUndoneBefore() {
		this.provider.says("/charges", answer(200, CHARGED).done());
		this.provider.says("/refunds", answer(409, "{\"error\":{\"code\":\"idempotency_key_in_use\"}}"));
		OperatedSaga ended = place(listed(), refunding((step) -> step.undoneBy(404, 409)));
		assertThat(ended.status()).isEqualTo(SagaStatus.HALTED);
		assertThat(ended.haltReason()).contains("409", "in progress", "undoneBy((response) -> …)");
	}

	/**
	 * A status handler takes each {@code 4xx} for a refusal, although the charge was
	 * done.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 404, 409, 429 })
	void isRequiredOfAStatementOfTheApplicationAfterALostResponse(int status) {
		this.provider.says("/charges", lost().done(), gateway(status, "<html>"), answer(200, CHARGED));
		OperatedSaga ended = place(honoured(),
				(booking) -> booking.saga.step("charge", String.class).run(() -> booking.sendOrRefuse("/charges")));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(this.provider.requests()).hasSize(3);
	}

	/**
	 * The charge, whose response was lost, has used up the limit.
	 */
	@Test
	void isRequiredOfARefusalWithoutACallAfterALostResponse() {
		this.provider.says("/charges", lost().done());
		List<SagaStatus> statuses = new ArrayList<>();
		AtomicReference<@Nullable String> reason = new AtomicReference<>();
		place(listed(),
				(booking) -> booking.saga.step("charge", String.class)
					.compensate(() -> booking.send("/refunds", null))
					.run(() -> {
						if (!this.provider.book().isEmpty()) {
							throw new StepRefusedException("Limit exceeded");
						}
						return booking.send("/charges", null);
					}),
				(operator, id) -> {
					OperatedSaga halted = end(operator, id);
					statuses.add(halted.status());
					reason.set(halted.haltReason());
					// As after a crash, the earlier call is not known any more.
					assertThat(operator.retry(id)).isTrue();
					statuses.add(end(operator, id).status());
				});
		assertThat(statuses).containsExactly(SagaStatus.HALTED, SagaStatus.HALTED);
		assertThat(reason.get()).contains("Limit exceeded", "an earlier attempt may have made its call");
	}

	/**
	 * That a service does nothing twice under one key says nothing of a request without
	 * one.
	 */
	@Test
	void isNoRefusalOfALookUpAfterALostResponse() {
		this.provider.says("/customers/1", answer(200, "{}"), answer(404, "{}"), answer(200, "{}"));
		this.provider.says("/charges", lost().done(), answer(200, CHARGED));
		OperatedSaga ended = place(honoured(),
				(booking) -> booking.saga.step("charge", String.class)
					.refusedBy(404)
					.run(() -> booking.get("/customers/1") + booking.send("/charges", null)));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(this.provider.book()).containsExactly("/charges");
	}

	@Test
	void isNoOtherCallAfterAResponseThatTheStepNames() {
		this.provider.says("/charges", answer(200, "{\"error\":\"card_declined\"}"));
		this.provider.says("/charges/1/receipt", answer(200, "{}"));
		OperatedSaga ended = place(listed(),
				(booking) -> booking.saga.step("charge", String.class)
					.refusedBy((response) -> response.body().contains("card_declined"))
					.compensate(() -> booking.send("/refunds", null))
					.run(() -> booking.send("/charges", null) + booking.get("/charges/1/receipt")));
		assertThat(ended.status()).isEqualTo(SagaStatus.HALTED);
		assertThat(ended.haltReason()).contains("names as a refusal (200)", "a step of its own");
	}

	@ParameterizedTest
	@CsvSource({ "charge_already_refunded, COMPENSATED", "balance_insufficient, HALTED" })
	void isAConditionOnTheResponseOfTheUndo(String code, SagaStatus status) {
		this.provider.says("/charges", answer(200, CHARGED).done());
		this.provider.says("/refunds", answer(400, "{\"error\":{\"code\":\"" + code + "\"}}"));
		OperatedSaga ended = place(listed(),
				refunding((step) -> step.undoneBy((response) -> response.body().contains("charge_already_refunded"))));
		assertThat(ended.status()).isEqualTo(status);
	}

	/**
	 * The first attempt was declined, too.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 200, 409, 422 })
	void isAConditionOnTheResponseOfTheAction(int status) {
		this.provider.says("/charges", lost(), answer(status, "{\"resultCode\":\"Refused\"}"));
		OperatedSaga ended = place(honoured(),
				(booking) -> booking.saga.step("charge", String.class)
					.refusedBy((response) -> response.body().contains("InvalidCard"))
					.refusedBy((response) -> response.body().contains("\"Refused\""))
					.run(() -> booking.send("/charges", null)));
		assertThat(ended.status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.provider.requests()).hasSize(2);
	}

	private static Consumer<Booking> refunding(UnaryOperator<SagaStep<String>> rules) {
		return (booking) -> {
			rules.apply(booking.saga.step("charge", String.class))
				.compensate(() -> booking.send("/refunds", null))
				.run(() -> booking.send("/charges", null));
			throw new UnsupportedOperationException("Undo");
		};
	}

	private OperatedSaga place(ApplicationContextRunner application, Consumer<Booking> saga) {
		OperatedSaga[] ended = new OperatedSaga[1];
		place(application, saga, (operator, id) -> ended[0] = end(operator, id));
		return ended[0];
	}

	private void place(ApplicationContextRunner application, Consumer<Booking> saga,
			BiConsumer<SagaAdministration, IdempotencyKey> operator) {
		plan.set(saga);
		application.run((context) -> {
			String id = UUID.randomUUID().toString();
			IdempotencyKey key = context.getBean(SagaCalls.class).start(() -> context.getBean(Booking.class).place(id));
			operator.accept(context.getBean(SagaAdministration.class), key);
		});
	}

	private static OperatedSaga end(SagaAdministration operator, IdempotencyKey id) {
		return await().atMost(Duration.ofMinutes(1))
			.until(() -> operator.inspect(id), (saga) -> saga != null && !saga.status().isOpen());
	}

	private ApplicationContextRunner unlisted() {
		return SagaApplication.with(Booking.class)
			.withConfiguration(ImportClient.CLASSES)
			.withPropertyValues("idempotent.saga.initialize-schema=always", "idempotent.saga.attempts=3",
					"test.payments=" + this.provider.url(), "idempotent.client.targets.other=other.example");
	}

	private ApplicationContextRunner listed() {
		return unlisted().withPropertyValues("idempotent.client.targets.payments=" + this.provider.url());
	}

	private ApplicationContextRunner honoured() {
		return listed().withPropertyValues("idempotent.client.honouring-keys=payments");
	}

	static class Booking {

		private final SagaSteps saga;

		private final RestClient client;

		Booking(SagaSteps saga, Environment environment, IdempotencyKeyInterceptor interceptor) {
			this.saga = saga;
			this.client = RestClient.builder()
				.requestFactory(new JdkClientHttpRequestFactory(HttpClient.newHttpClient()))
				.requestInterceptor(interceptor)
				.baseUrl(environment.getRequiredProperty("test.payments"))
				.build();
		}

		@Saga(name = "evidence", key = "#id", timeout = "10m")
		public void place(String id) {
			plan.get().accept(this);
		}

		String send(String path, @Nullable String ownKey) {
			return String.valueOf(this.client.post().uri(path).headers((headers) -> {
				if (ownKey != null) {
					headers.set("Request-Id", ownKey);
				}
			}).retrieve().body(String.class));
		}

		String sendOrRefuse(String path) {
			return String.valueOf(this.client.post()
				.uri(path)
				.retrieve()
				.onStatus(HttpStatusCode::is4xxClientError, (request, response) -> {
					throw new StepRefusedException("Declined");
				})
				.body(String.class));
		}

		String get(String path) {
			return String.valueOf(this.client.get().uri(path).retrieve().body(String.class));
		}

	}

}
