package dev.idempotent.autoconfigure.saga;

import java.net.URI;
import java.net.http.HttpClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.client.Downstream;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.method.SagaApplication;
import dev.idempotent.saga.method.SagaCalls;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.ResponseErrorHandler;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import org.springframework.web.client.RestTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the outcome that a step records for what its action has received.
 */
class StepOutcomeTests {

	private static final ClientHttpRequestFactory REQUESTS = new JdkClientHttpRequestFactory(
			HttpClient.newHttpClient());

	private static final List<Kind> CALLS = List.of(Kind.PLAIN, Kind.COMPENSATE, Kind.CANCEL);

	private static final int[] REDIRECTS = { 300, 301, 302, 303, 304, 307, 308 };

	private static final Map<String, Callable<@Nullable Object>> actions = new ConcurrentHashMap<>();

	private static final Map<String, Callable<@Nullable Object>> undos = new ConcurrentHashMap<>();

	private static final Set<String> undone = ConcurrentHashMap.newKeySet();

	private final Downstream service = new Downstream();

	private final Downstream unlisted = new Downstream();

	private final IdempotencyKeyInterceptor keys = new IdempotencyKeyInterceptor(
			PropagationTargets.of(Map.of("pay", List.of("127.0.0.1:" + port(this.service)), "stock",
					List.of("127.0.0.1:" + port(this.service) + "/stock"))));

	private final RestClient client = builder().build();

	@AfterEach
	void stop() {
		this.service.close();
		this.unlisted.close();
	}

	@Test
	void isNotDoneAfterARedirect() {
		run((shop) -> {
			for (int status : REDIRECTS) {
				for (Kind kind : CALLS) {
					this.service.willAnswer(status);
					assertThat(shop.step(kind, () -> send("POST", "/charges"))).as(kind + " " + status)
						.isEqualTo("ACTING");
				}
			}
		});
	}

	@Test
	void isDoneAfterASuccess() {
		this.service.givesReceipts();
		run((shop) -> {
			for (int status : new int[] { 200, 201, 202, 204, 206 }) {
				for (Kind kind : CALLS) {
					this.service.willAnswer(status);
					assertThat(shop.step(kind, () -> send("POST", "/charges"))).as(kind + " " + status)
						.isEqualTo("DONE");
				}
			}
		});
	}

	@Test
	void isNotDoneIfTheClientIgnoresAFailure() {
		RestClient lenient = builder().defaultStatusHandler((status) -> true, (request, response) -> {
		}).build();
		RestTemplate template = new RestTemplate(REQUESTS);
		template.getInterceptors().add(this.keys);
		template.setErrorHandler(new ResponseErrorHandler() {
			@Override
			public boolean hasError(ClientHttpResponse response) {
				return false;
			}
		});
		List<Callable<@Nullable Object>> calls = List.of(
				() -> lenient.post().uri(this.service.url() + "/charges").retrieve().toBodilessEntity().hashCode(),
				() -> this.client.post()
					.uri(this.service.url() + "/charges")
					.retrieve()
					.onStatus(HttpStatusCode::isError, (request, response) -> {
					})
					.body(String.class),
				() -> this.client.post().uri(this.service.url() + "/charges").exchange((request, response) -> "sent"),
				() -> template.postForObject(this.service.url() + "/charges", null, String.class),
				() -> ignoring(() -> send("POST", "/charges")));
		run((shop) -> {
			for (int status : new int[] { 302, 404, 409, 422, 500, 503 }) {
				for (Callable<@Nullable Object> call : calls) {
					this.service.willAnswer(status);
					assertThat(shop.step(Kind.COMPENSATE, call)).as("call " + calls.indexOf(call) + ", " + status)
						.isEqualTo("ACTING");
				}
			}
		});
	}

	@Test
	void isNotDoneIfOneOfItsCallsIsNot() {
		run((shop) -> {
			this.service.willAnswer(302, 200);
			assertThat(shop.step(Kind.COMPENSATE, () -> send("POST", "/charges") + send("GET", "/other")))
				.isEqualTo("ACTING");
			this.service.willAnswer(Downstream.SILENCE, 200);
			assertThat(
					shop.step(Kind.COMPENSATE, () -> ignoring(() -> send("POST", "/charges")) + send("GET", "/other")))
				.isEqualTo("ACTING");
		});
	}

	@Test
	void isDoneIfARetryOfTheCallIs() {
		this.service.givesReceipts();
		run((shop) -> {
			this.service.willAnswer(503, 200);
			assertThat(
					shop.step(Kind.CANCEL, () -> ignoring(() -> send("POST", "/charges")) + send("POST", "/charges")))
				.isEqualTo("DONE");
		});
	}

	@Test
	void isDoneAlthoughALookUpHasFoundNothing() {
		run((shop) -> {
			this.service.willAnswer(404, 200);
			assertThat(shop.step(Kind.COMPENSATE,
					() -> ignoring(() -> send("GET", "/charges")) + send("POST", "/charges")))
				.isEqualTo("DONE");
		});
	}

	@Test
	void isRefusedIfItsOnlyCallIs() {
		run((shop) -> {
			for (Kind kind : List.of(Kind.PLAIN, Kind.COMPENSATE)) {
				this.service.willAnswer(404);
				assertThat(shop.step(kind, () -> send("POST", "/charges"))).as("%s", kind).isEqualTo("REFUSED");
			}
			this.service.willAnswer(404);
			assertThat(shop.step(Kind.COMPENSATE, () -> send("POST", "/charges", "mine"))).isEqualTo("REFUSED");
		});
	}

	@Test
	void isNotRefusedIfItHasMadeAnotherCallBefore() {
		List<Callable<@Nullable Object>> earlier = List.of(() -> send("POST", "/charges", "mine"),
				() -> send("GET", "/charges"), () -> unlisted(this.client), () -> send("POST", "/charges"),
				() -> ignoring(() -> send("POST", "/other")));
		run((shop) -> {
			for (String last : List.of("POST", "GET", "DELETE")) {
				for (Callable<@Nullable Object> first : last.equals("GET") ? earlier : earlier.subList(0, 3)) {
					this.service.willAnswer((earlier.indexOf(first) == 2) ? new int[] { 404 } : new int[] { 200, 404 });
					assertThat(shop.step(Kind.COMPENSATE, () -> first.call() + send(last, "/charges")))
						.as("call " + earlier.indexOf(first) + ", then " + last)
						.isEqualTo("ACTING");
				}
			}
		});
	}

	@Test
	void isNotRefusedByAResponseThatWasNotObserved() {
		RestClient unknown = RestClient.builder().requestFactory(REQUESTS).build();
		run((shop) -> {
			this.unlisted.willAnswer(404, 404);
			assertThat(shop.step(Kind.COMPENSATE, () -> unlisted(unknown))).isEqualTo("ACTING");
			assertThat(shop.step(Kind.COMPENSATE, () -> send("POST", "/charges") + unlisted(unknown)))
				.isEqualTo("ACTING");
		});
	}

	@Test
	void makesNoSecondCallUnderItsKey() {
		this.service.givesReceipts();
		List<Callable<@Nullable Object>> seconds = List.of(() -> send("POST", "/other"), () -> send("POST", "/charges"),
				() -> ignoring(() -> send("POST", "/other")));
		run((shop) -> {
			for (Kind kind : List.of(Kind.PLAIN, Kind.COMPENSATE, Kind.CANCEL, Kind.TRANSACTION)) {
				for (Callable<@Nullable Object> second : seconds) {
					int before = this.service.keys().size();
					String state = shop.step(kind, () -> send("POST", "/charges") + second.call());
					String description = kind + " " + seconds.indexOf(second);
					assertThat(this.service.keys()).as(description).hasSize(before + 1);
					assertThat(state).as(description).isEqualTo((kind == Kind.TRANSACTION) ? null : "ACTING");
					assertThat(shop.halted()).as(description).contains("second call", "a step of its own");
				}
			}
			for (Kind kind : List.of(Kind.COMPENSATE, Kind.CANCEL)) {
				int before = this.service.keys().size();
				assertThat(
						shop.undo(kind, () -> send("POST", "/charges"), () -> send("POST", "/a") + send("POST", "/b")))
					.isEqualTo("COMPENSATING");
				assertThat(this.service.keys()).as("undo, " + kind).hasSize(before + 2);
				assertThat(shop.halted()).as("undo, " + kind).contains("second call");
			}
		});
	}

	@Test
	void isNotCalledInAnotherWayThanInTheAttemptOfUnknownOutcome() {
		Map<String, Callable<@Nullable Object>> changes = Map.of("its target is stock instead of pay",
				() -> send("POST", "/stock/charges"), "it has another method or path", () -> send("PUT", "/charges"),
				"it has another query or body", () -> send("POST", "/charges?a=b"));
		run((shop) -> {
			for (String change : changes.keySet()) {
				int before = this.service.keys().size();
				this.service.willAnswer(Downstream.SILENCE);
				assertThat(shop.step(Kind.PLAIN, () -> send("POST", "/charges"))).isEqualTo("ACTING");
				shop.letAct(changes.get(change));
				await().until(() -> shop.saga().status() == SagaStatus.HALTED);
				assertThat(shop.halted()).contains("another call under its key", change);
				assertThat(this.service.keys()).hasSize(before + 1);
				shop.letAct(changes.get(change));
				shop.retry();
				await().until(() -> shop.saga().status() == SagaStatus.COMPLETED);
				assertThat(this.service.keys()).hasSize(before + 2);
			}
		});
	}

	@Test
	void isNotUndoneInAnotherWayThanInTheAttemptOfUnknownOutcome() {
		this.service.givesReceipts();
		run((shop) -> {
			for (Kind kind : List.of(Kind.COMPENSATE, Kind.CANCEL)) {
				int before = this.service.keys().size();
				this.service.willAnswer(200, 503);
				assertThat(shop.undo(kind, () -> send("POST", "/charges"), () -> send("POST", "/refunds")))
					.isEqualTo("COMPENSATING");
				shop.letUndo(() -> send("POST", "/stock/refunds"));
				await().until(() -> shop.saga().status() == SagaStatus.HALTED);
				assertThat(shop.halted()).contains("its target is stock instead of pay");
				assertThat(this.service.keys()).hasSize(before + 2);
				shop.retry(() -> send("POST", "/refunds"));
				await().until(() -> shop.saga().status() == SagaStatus.COMPENSATED);
			}
		});
	}

	@Test
	void carriesTheKeyOfItsStep() {
		run((shop) -> {
			for (Kind kind : List.of(Kind.PLAIN, Kind.COMPENSATE, Kind.CANCEL, Kind.TRANSACTION)) {
				shop.step(kind, () -> send("POST", "/charges"));
				assertThat(this.service.keys()).as("%s", kind).endsWith(shop.lastStep().actionKey().digest());
			}
		});
	}

	@Test
	void isRefusedAfterALostResponseByAReplayOnly() {
		Callable<@Nullable Object> repeated = () -> ignoring(() -> send("POST", "/charges")) + send("POST", "/charges");
		run((shop) -> {
			for (String mark : List.of("true", "?1", "false")) {
				this.service.marksReplays(mark);
				this.service.willAnswer(Downstream.SILENCE, 402);
				assertThat(shop.step(Kind.COMPENSATE, repeated)).as(mark)
					.isEqualTo(mark.equals("false") ? "ACTING" : "REFUSED");
			}
		});
	}

	@Test
	void isNotUndoneAfterARedirect() {
		this.service.givesReceipts();
		run((shop) -> {
			for (Kind kind : List.of(Kind.COMPENSATE, Kind.CANCEL)) {
				this.service.willAnswer(200, 302);
				assertThat(shop.undo(kind, () -> send("POST", "/charges"))).isEqualTo("COMPENSATING");
				assertThat(shop.undo(kind, () -> send("POST", "/charges"))).isEqualTo("COMPENSATED");
			}
		});
	}

	@Test
	void rollsATransactionBackWhoseCallWasNotDone() {
		run((shop) -> {
			for (int status : new int[] { 200, 302, 404 }) {
				this.service.willAnswer(status);
				assertThat(shop.step(Kind.TRANSACTION,
						() -> this.client.post()
							.uri(this.service.url() + "/charges")
							.exchange((request, response) -> "sent")))
					.as("after " + status)
					.isEqualTo((status == 200) ? "DONE" : null);
				assertThat(shop.jdbc().queryForList("select id from sent")).as("after " + status).hasSize(1);
			}
		});
	}

	@Test
	void makesNoCallInTheTransactionThatStoresItsSaga() {
		run((shop) -> {
			for (Callable<@Nullable Object> call : List.<Callable<@Nullable Object>>of(() -> send("POST", "/charges"),
					() -> ignoring(() -> send("POST", "/charges")))) {
				assertThat(shop.step(Kind.UNSTORED, call)).isNull();
			}
			assertThat(this.service.keys()).isEmpty();
			assertThat(shop.jdbc().queryForList("select id from sent")).isEmpty();
			assertThat(shop.step(Kind.UNSTORED, () -> send("GET", "/charges"))).isEqualTo("DONE");
		});
	}

	@Test
	void isNotRefusedWithoutAResponse() {
		run((shop) -> {
			for (int status : new int[] { Downstream.SILENCE, 409, 503, 402 }) {
				Callable<@Nullable Object> refusing = () -> {
					try {
						return send("POST", "/charges");
					}
					catch (RestClientException ex) {
						throw new StepRefusedException("Declined");
					}
				};
				this.service.willAnswer(status);
				assertThat(shop.step(Kind.COMPENSATE, refusing)).as("action, " + status)
					.isEqualTo((status == 402) ? "REFUSED" : "ACTING");
				this.service.willAnswer(200, status);
				assertThat(shop.undo(Kind.COMPENSATE, refusing)).as("undo, " + status)
					.isEqualTo((status == 402) ? "DONE" : "COMPENSATING");
			}
		});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void doesNotLogTheBodyOfAResponse(CapturedOutput output) {
		run((shop) -> {
			RestClient unobserved = RestClient.builder().requestFactory(REQUESTS).build();
			this.service.willAnswer(404);
			shop.step(Kind.UNSTORED,
					() -> unobserved.post().uri(this.service.url() + "/charges").retrieve().toBodilessEntity());
		});
		assertThat(output)
			.containsOnlyOnce("counts as refused: " + HttpClientErrorException.NotFound.class.getName() + " (404)"
					+ System.lineSeparator())
			.doesNotContain("\"done\"");
	}

	@Test
	void isRefusedByAStatusThatTheStepNames() {
		run((shop) -> {
			this.service.willAnswer(403, 403, 200, 403);
			assertThat(shop.step(Kind.PLAIN, () -> send("POST", "/charges"))).isEqualTo("ACTING");
			assertThat(shop.step(Kind.NAMED, () -> send("POST", "/charges"))).isEqualTo("REFUSED");
			assertThat(shop.find("reason")).isEqualTo(HttpClientErrorException.Forbidden.class.getName() + " (403)");
			assertThat(shop.step(Kind.NAMED, () -> ignoring(() -> send("GET", "/other")) + send("POST", "/charges")))
				.isEqualTo("ACTING");
		});
	}

	@Test
	void isDoneOnlyWithTheReceiptOfAParticipant() {
		run((shop) -> {
			assertThat(shop.step(Kind.CANCEL, () -> send("POST", "/charges"))).isEqualTo("ACTING");
			this.service.willAnswer(422);
			assertThat(shop.step(Kind.CANCEL, () -> send("POST", "/charges"))).isEqualTo("ACTING");
			assertThat(shop.step(Kind.COMPENSATE, () -> send("POST", "/charges"))).isEqualTo("DONE");
			this.service.givesReceipts();
			this.service.willAnswer(200, 422);
			assertThat(shop.step(Kind.CANCEL, () -> send("POST", "/charges"))).isEqualTo("DONE");
			shop.step(Kind.CANCEL, () -> send("POST", "/charges"));
			assertThat(shop.find("reason")).contains("(422)");
		});
	}

	@Test
	void isDoneOnlyWithTheProofThatItNames() {
		run((shop) -> {
			this.service.willAnswer(200, 402);
			assertThat(shop.step(Kind.PROVEN, () -> send("POST", "/charges"))).isEqualTo("ACTING");
			assertThat(shop.step(Kind.PROVEN, () -> send("POST", "/charges"))).isEqualTo("ACTING");
			this.service.marksReplays("false");
			this.service.willAnswer(200, 402);
			assertThat(shop.step(Kind.PROVEN, () -> send("POST", "/charges"))).isEqualTo("DONE");
			assertThat(shop.step(Kind.PROVEN, () -> send("POST", "/charges"))).isEqualTo("REFUSED");
		});
	}

	@Test
	void isRefusedByAnExceptionThatItNames() {
		Callable<@Nullable Object> declined = () -> this.client.post()
			.uri(this.service.url() + "/charges")
			.retrieve()
			.onStatus(HttpStatusCode::isError, (request, response) -> {
				throw new Declined();
			})
			.body(String.class);
		run((shop) -> {
			this.service.willAnswer(402, 402, 503, Downstream.SILENCE);
			assertThat(shop.step(Kind.PLAIN, declined)).isEqualTo("ACTING");
			assertThat(shop.step(Kind.NAMED, declined)).isEqualTo("REFUSED");
			assertThat(shop.step(Kind.NAMED, declined)).isEqualTo("ACTING");
			assertThat(shop.step(Kind.NAMED, declined)).isEqualTo("ACTING");
			assertThat(shop.step(Kind.NAMED, () -> {
				throw new Declined();
			})).as("a client that is not observed").isEqualTo("REFUSED");
		});
	}

	@Test
	void isUndoneByAStatusThatItNames() {
		run((shop) -> {
			this.service.willAnswer(200, 404);
			assertThat(shop.undo(Kind.UNDONE_BY, () -> send("POST", "/charges"))).isEqualTo("COMPENSATED");
			this.service.willAnswer(200, 402);
			assertThat(shop.undo(Kind.UNDONE_BY, () -> send("POST", "/charges"))).isEqualTo("DONE");
			assertThat(shop.saga().status()).isEqualTo(SagaStatus.HALTED);
		});
	}

	@Test
	void isRefusedAfterALostResponseByAServiceThatHonoursKeys() {
		IdempotencyKeyInterceptor honoured = new IdempotencyKeyInterceptor(
				PropagationTargets.of(Map.of("pay", List.of("127.0.0.1"))).honouringKeys(List.of("pay")));
		RestClient provider = RestClient.builder().requestFactory(REQUESTS).requestInterceptor(honoured).build();
		Callable<@Nullable Object> charge = () -> provider.post()
			.uri(this.service.url() + "/charges")
			.retrieve()
			.body(String.class);
		Callable<@Nullable Object> repeated = () -> String.valueOf(ignoring(charge)) + charge.call();
		run((shop) -> {
			this.service.willAnswer(Downstream.SILENCE, 402, Downstream.SILENCE, 404);
			assertThat(shop.step(Kind.COMPENSATE, repeated)).isEqualTo("REFUSED");
			assertThat(shop.step(Kind.COMPENSATE, repeated)).as("maybe of a gateway").isEqualTo("ACTING");
		});
	}

	@Test
	void isUndoneUnderAnotherKeyAfterItsRefusal() {
		this.service.givesReceipts();
		run((shop) -> {
			for (Kind kind : List.of(Kind.COMPENSATE, Kind.CANCEL)) {
				int before = this.service.keys().size();
				this.service.willAnswer(200, 422, Downstream.SILENCE, 503);
				assertThat(shop.undo(kind, () -> send("POST", "/charges"))).isEqualTo("DONE");
				SagaSnapshot halted = shop.saga();
				assertThat(halted.status()).isEqualTo(SagaStatus.HALTED);
				assertThat(halted.reason()).contains("could not be undone", "(422)");
				IdempotencyKey next = halted.steps().get(0).undoKey();
				shop.retry(() -> send("POST", "/charges"));
				await().until(() -> this.service.keys().size() == before + 3);
				assertThat(shop.saga().steps().get(0).undoKey()).isEqualTo(next);
				shop.letUndo(() -> send("POST", "/charges"));
				await().until(() -> this.service.keys().size() >= before + 4);
				List<String> keys = this.service.keys().subList(before, before + 4);
				assertThat(keys.subList(0, 3)).doesNotHaveDuplicates();
				assertThat(keys.get(3)).as("after a lost response").isEqualTo(keys.get(2));
				assertThat(keys.get(2)).isEqualTo(next.digest());
			}
		});
	}

	private @Nullable String send(String method, String path, String... key) {
		return this.client.method(HttpMethod.valueOf(method))
			.uri(this.service.url() + path)
			.headers((headers) -> List.of(key).forEach((own) -> headers.set("Idempotency-Key", own)))
			.retrieve()
			.body(String.class);
	}

	private @Nullable String unlisted(RestClient with) {
		return with.post().uri(this.unlisted.url() + "/audit").retrieve().body(String.class);
	}

	private static @Nullable Object ignoring(Callable<@Nullable Object> call) throws Exception {
		try {
			return call.call();
		}
		catch (RestClientException | IllegalStateException ex) {
			return "ignored";
		}
	}

	private RestClient.Builder builder() {
		return RestClient.builder().requestFactory(REQUESTS).requestInterceptor(this.keys);
	}

	private static int port(Downstream service) {
		return URI.create(service.url()).getPort();
	}

	private static void run(Scenario scenario) {
		SagaApplication.with(Shop.class)
			.withConfiguration(AutoConfigurations.of(JdbcTemplateAutoConfiguration.class))
			.withPropertyValues("idempotent.saga.initialize-schema=always", "idempotent.saga.wait-timeout=1ms")
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("create table sent (id varchar(36))");
				scenario.run(new Caller(context.getBean(Shop.class), jdbc, context.getBean(SagaCalls.class),
						context.getBean(SagaAdministration.class), new AtomicReference<>()));
			});
	}

	private static final class Declined extends RuntimeException {

	}

	@FunctionalInterface
	interface Scenario {

		void run(Caller shop) throws Exception;

	}

	enum Kind {

		PLAIN, COMPENSATE, CANCEL, TRANSACTION, UNSTORED, NAMED, PROVEN, UNDONE_BY

	}

	/**
	 * Calls sagas of one step, and finds out what the first run has recorded.
	 */
	private record Caller(Shop shop, JdbcTemplate jdbc, SagaCalls sagas, SagaAdministration operator,
			AtomicReference<String> last) {

		SagaSnapshot saga() {
			return this.sagas.find(id()).orElseThrow();
		}

		SagaSnapshot.Step lastStep() {
			List<SagaSnapshot.Step> steps = saga().steps();
			return steps.get(steps.size() - 1);
		}

		/**
		 * The reason of the saga that was halted last.
		 */
		@Nullable String halted() {
			return this.jdbc.queryForObject(
					"select halt_reason from saga_instance where status = 'HALTED' order by created_at desc limit 1",
					String.class);
		}

		void retry(Callable<@Nullable Object> undo) {
			letUndo(undo);
			retry();
		}

		void retry() {
			assertThat(this.operator.retry(id())).isTrue();
		}

		void letAct(@Nullable Callable<@Nullable Object> action) {
			actions.put(this.last.get(), Objects.requireNonNull(action));
		}

		void letUndo(Callable<@Nullable Object> undo) {
			undos.put(this.last.get(), undo);
		}

		@Nullable String find(String column) {
			return find(column, this.last.get());
		}

		private IdempotencyKey id() {
			return new IdempotencyKey(Objects.requireNonNull(find("saga_id")));
		}

		@Nullable String step(Kind kind, Callable<@Nullable Object> action) {
			String id = UUID.randomUUID().toString();
			this.last.set(id);
			actions.put(id, action);
			try {
				this.shop.place(id, kind);
			}
			catch (IdempotencyPendingException | SagaCompensatedException | SagaHaltedException
					| IllegalStateException ex) {
				// The journal tells.
			}
			return find("state", id);
		}

		@Nullable String undo(Kind kind, Callable<@Nullable Object> call) {
			return undo(kind, call, call);
		}

		@Nullable String undo(Kind kind, Callable<@Nullable Object> call, Callable<@Nullable Object> undo) {
			String id = UUID.randomUUID().toString();
			this.last.set(id);
			actions.put(id, call);
			undos.put(id, undo);
			undone.add(id);
			try {
				this.shop.place(id, kind);
			}
			catch (IdempotencyPendingException | SagaCompensatedException | SagaHaltedException ex) {
				// The journal tells.
			}
			return find("state", id);
		}

		private @Nullable String find(String column, String step) {
			return this.jdbc.queryForList("select " + column + " from saga_step where name = ?", String.class, step)
				.stream()
				.findFirst()
				.orElse(null);
		}

	}

	static class Shop {

		private final SagaSteps saga;

		private final JdbcTemplate jdbc;

		Shop(SagaSteps saga, JdbcTemplate jdbc) {
			this.saga = saga;
			this.jdbc = jdbc;
		}

		@Saga(key = "#id", name = "Shop.place")
		public void place(String id, Kind kind) {
			if (kind == Kind.TRANSACTION) {
				this.saga.step("stored").runInTransaction(() -> {
				});
			}
			SagaStep<String> step = this.saga.step(id, String.class);
			switch (kind) {
				case NAMED -> step.refusedBy(403, 410).refusedWhen(Declined.class).run(() -> once(actions, id));
				case PROVEN -> step.provenBy((response) -> response.header("Idempotent-Replayed") != null)
					.run(() -> once(actions, id));
				case UNDONE_BY -> step.undoneBy(404).compensate(() -> once(undos, id)).run(() -> once(actions, id));
				case PLAIN -> step.run(() -> once(actions, id));
				case COMPENSATE -> step.compensate(() -> once(undos, id)).run(() -> once(actions, id));
				case CANCEL -> step.cancel(() -> once(undos, id)).run(() -> once(actions, id));
				case TRANSACTION, UNSTORED -> step.runInTransaction(() -> {
					this.jdbc.update("insert into sent values (?)", id);
					return once(actions, id);
				});
			}
			if (undone.contains(id)) {
				throw new UnsupportedOperationException("Undo");
			}
		}

		/**
		 * Later runs, in the background, do not call the service.
		 */
		private static String once(Map<String, Callable<@Nullable Object>> calls, String id) {
			Callable<@Nullable Object> call = calls.remove(id);
			if (call == null) {
				throw new IllegalStateException("Was run before");
			}
			try {
				return String.valueOf(call.call());
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
