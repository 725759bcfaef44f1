package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import dev.idempotent.autoconfigure.actuate.SagaShop.Audits;
import dev.idempotent.autoconfigure.actuate.SagaShop.Checkout;
import dev.idempotent.autoconfigure.actuate.SagaShop.Warehouse;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.engine.HaltReason;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.saga.Sagas;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the saga endpoint over HTTP, in an application whose sagas are in PostgreSQL.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagaEndpointIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(SagaEndpointIntegrationTests::start)
		.resetting(Audits.class, (audits) -> audits.events().clear());

	private static final String ABSENT = "0".repeat(64);

	private static final String SKIP = """
			{"step": "hold", "note": "Booked out by hand, ticket 42"}""";

	private final String order = UUID.randomUUID().toString();

	private static WebApplication start() {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
				"idempotent.jdbc.table=operated_record", "idempotent.saga.initialize-schema=always",
				"idempotent.saga.table-prefix=operated_saga_", "management.endpoints.web.exposure.include=saga,health",
				"management.endpoint.health.show-details=always", "management.health.idempotency.enabled=false",
				"management.health.redis.enabled=false"));
		return WebApplication.start(SagaShop.class, List::of, properties.toArray(String[]::new));
	}

	@AfterEach
	void removeSagas() {
		warehouse().acceptReturns(true);
		JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
		jdbc.update("delete from operated_saga_step");
		jdbc.update("delete from operated_saga_signal");
		jdbc.update("delete from operated_saga_instance");
	}

	@Test
	void countsSagasByStatus() {
		checkout().place(UUID.randomUUID().toString(), "good");
		halt();
		JsonNode answer = json(get(""), 200);
		assertThat(answer.at("/sagas/byStatus").toString())
			.isEqualTo("{\"STARTED\":0,\"EXECUTING\":0,\"COMPENSATING\":0,\"HALTED\":1}");
		assertThat(answer.at("/sagas/exact").asBoolean()).isTrue();
		assertThat(answer.at("/sagas/unserved").asInt()).isZero();
		assertThat(answer.at("/sagas/oldestDueAge").asString()).isEqualTo("PT0S");
		assertThat(answer.at("/instance/running").asInt()).isZero();
		assertThat(answer.at("/instance/served").toString()).isEqualTo("[\"checkout\"]");
	}

	@Test
	void showsASagaWithItsStepsAndWithoutWhatTheyCarry() {
		String id = halt();
		HttpResponse<byte[]> response = get("/" + id);
		JsonNode answer = json(response, 200);
		assertThat(answer.at("/saga").propertyNames()).containsExactlyInAnyOrder("id", "name", "status", "reason",
				"undoReason", "attempts", "createdAt", "deadline", "owner", "dueIn", "haltedIn", "haltedAt",
				"waitsFor");
		assertThat(answer.at("/saga/id").asString()).isEqualTo(id);
		assertThat(answer.at("/saga/name").asString()).isEqualTo("checkout");
		assertThat(answer.at("/saga/status").asString()).isEqualTo("HALTED");
		assertThat(answer.at("/saga/reason").asString()).contains("The goods have left the warehouse");
		assertThat(answer.at("/saga/undoReason").asString()).isEqualTo("The card is refused");
		assertThat(answer.at("/saga/createdAt").asString()).startsWith("20").endsWith("Z");
		assertThat(Instant.parse(answer.at("/saga/haltedAt").asString()))
			.isAfter(Instant.parse(answer.at("/saga/createdAt").asString()));
		assertThat(answer.at("/saga/haltedIn").asString()).isEqualTo("COMPENSATING");
		assertThat(answer.at("/saga/dueIn").isNull()).isTrue();
		assertThat(answer.at("/saga/owner")).isEqualTo(json(get(""), 200).at("/instance/process"));
		assertThat(answer.get("haltedStep").asString()).isEqualTo("hold");
		assertThat(answer.get("steps")).extracting((step) -> step.get("name").asString() + step.get("state").asString())
			.containsExactly("orderDONE", "holdDONE", "chargeREFUSED");
		assertThat(answer.at("/steps/0").propertyNames()).containsExactlyInAnyOrder("name", "kind", "state", "reason",
				"note", "refusedUndos", "stuck", "begunAt", "compensatingAt", "endedAt", "actionKey", "undoKey");
		assertThat(answer.at("/steps/0/kind").asString()).isEqualTo("COMPENSATED_TRANSACTION");
		assertThat(answer.at("/steps/1/refusedUndos").asInt()).isOne();
		assertThat(answer.at("/steps/1/begunAt").asString()).endsWith("Z");
		assertThat(answer.get("meaning").asString()).contains("does not continue by itself")
			.startsWith("It was halted while its steps were undone, at the step 'hold'");
		assertThat(answer.get("action").asString()).isEqualTo(HaltReason.UNDO_FAILED.action());
		assertThat(text(response)).doesNotContain(this.order, "held for");
	}

	@Test
	void listsSagas() {
		String halted = halt();
		checkout().place(UUID.randomUUID().toString(), "good");
		checkout().place(UUID.randomUUID().toString(), "good");
		assertThat(json(get("/list"), 200).get("sagas")).singleElement()
			.satisfies((saga) -> assertThat(saga.get("id").asString()).isEqualTo(halted));
		assertThat(json(get("/list?status=halted&name=checkout"), 200).get("sagas")).hasSize(1);
		assertThat(json(get("/list?status=COMPLETED"), 200).get("sagas")).hasSize(2);
		assertThat(json(get("/list?status=COMPLETED&limit=1"), 200).get("sagas")).hasSize(1);
		assertThat(json(get("/list?status=COMPLETED&name=other"), 200).get("sagas")).isEmpty();
	}

	@Test
	void listsSagasInPages() {
		List<String> all = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			warehouse().acceptReturns(false);
			String each = UUID.randomUUID().toString();
			all.add(catchThrowableOfType(SagaHaltedException.class, () -> checkout().place(each, "refused")).id()
				.digest());
		}
		JsonNode first = json(get("/list?status=HALTED&limit=2"), 200);
		JsonNode second = json(get("/list?status=HALTED&limit=2&after=" + first.get("next").asString()), 200);
		assertThat(second.get("next").isNull()).isTrue();
		List<String> listed = new ArrayList<>();
		first.get("sagas").forEach((saga) -> listed.add(saga.get("id").asString()));
		second.get("sagas").forEach((saga) -> listed.add(saga.get("id").asString()));
		assertThat(listed).isEqualTo(all);
	}

	@Test
	void showsAndRetriesASagaOfALaterVersionOfTheApplication() {
		String id = halt();
		application.bean(JdbcTemplate.class)
			.update("update operated_saga_step set kind = 'LATER', state = 'PAUSED' where name = 'hold'");
		assertThat(json(get("/" + id), 200).at("/steps/1/state").asString()).isEqualTo("PAUSED");
		json(post(id + "/retry", ""), 200);
	}

	@Test
	void keepsTheNoteOfTheFirstOfTwoOperators() {
		String id = halt();
		json(post(id + "/skip", SKIP), 200);
		json(post(id + "/skip", SKIP), 200);
		assertThat(
				json(post(id + "/skip", "{\"step\":\"hold\",\"note\":\"Paid back\"}"), 409).get("problem").asString())
			.isEqualTo("The step is already skipped, with another note");
		assertThat(json(get("/" + id), 200).at("/steps/1/note").asString()).isEqualTo("Booked out by hand, ticket 42");
		assertThat(application.bean(Audits.class).events()).hasSize(2);
	}

	@Test
	void retriesASagaOnceForTwoOperators() throws InterruptedException {
		String id = halt();
		// It is not halted again before the second operator comes.
		warehouse().acceptReturns(true);
		List<Integer> answers = ConcurrentRuns.of(2,
				(runner) -> post(id + "/retry", "{\"note\":\"Returns work\"}").statusCode());
		assertThat(answers).containsOnly(200, 409);
		assertThat(audited().getData()).containsEntry("note", "Returns work");
		awaitStatus(id, SagaStatus.COMPENSATED);
	}

	@Test
	void letsOnlyThePathDecideWhatIsDone() {
		String id = halt();
		String body = "{\"operation\":\"skip\",\"step\":\"hold\",\"note\":\"done\"}";
		assertThat(json(post(id + "/retry", body), 400).get("problem").asString()).contains("a part of its path");
		assertThat(json(post(id + "/retry?operation=skip&step=hold&note=done", "{}"), 400).get("problem").asString())
			.contains("a part of its path");
		assertThat(json(post(ABSENT + "/retry", "{\"id\":\"" + id + "\"}"), 400).get("problem").asString())
			.contains("a part of its path");
		assertThat(application.bean(Audits.class).events()).isEmpty();
		assertThat(json(get("/" + id), 200).at("/saga/status").asString()).isEqualTo("HALTED");
	}

	@Test
	void undoesASagaThatIsRetried(CapturedOutput output) {
		String id = halt();
		warehouse().acceptReturns(true);
		JsonNode answer = json(post(id + "/retry", ""), 200);
		assertThat(answer.at("/saga/status").asString()).isNotEqualTo("HALTED");
		awaitStatus(id, SagaStatus.COMPENSATED);
		assertThat(warehouse().holds(this.order)).isFalse();
		assertThat(warehouse().log()).contains("take back held for " + this.order, "reject " + this.order);
		assertThat(audited()).satisfies((event) -> {
			assertThat(event.getType()).isEqualTo("SAGA_RETRIED");
			assertThat(event.getData()).containsOnlyKeys("id", "saga", "outcome")
				.containsEntry("id", id)
				.containsEntry("saga", "checkout")
				.containsEntry("outcome", "DONE");
		});
		assertThat(output).containsOnlyOnce("An operator has requested to retry the saga " + id + " (checkout): DONE");
	}

	@Test
	void haltsAgainIfTheCauseOfAHaltedSagaRemains() {
		String id = halt();
		json(post(id + "/retry", ""), 200);
		awaitStatus(id, SagaStatus.HALTED);
		assertThat(warehouse().holds(this.order)).isTrue();
	}

	@Test
	void showsWhatASagaWaitsFor() {
		String id = waitForPayment(this.order);
		JsonNode answer = json(get("/" + id), 200);
		assertThat(answer.at("/saga/waitsFor").asString()).isEqualTo("paid");
		assertThat(answer.at("/saga/owner").isNull()).isTrue();
		assertThat(answer.get("meaning").asString())
			.isEqualTo("It waits for 'paid', and goes on when that arrives or its time has passed");
		assertThat(answer.at("/steps/2/kind").asString()).isEqualTo("SIGNAL");
		assertThat(answer.at("/steps/2/state").asString()).isEqualTo("ACTING");
		assertThat(json(get(""), 200).at("/sagas/waiting").asInt()).isOne();
		assertThat(json(get("/list"), 200).at("/sagas/0/waitsFor").asString()).isEqualTo("paid");
	}

	@Test
	void sendsASignalByHand(CapturedOutput output) {
		String id = waitForPayment(this.order);
		json(post(id + "/signal", """
				{"signal": "paid", "value": "{\\"amount\\": 100}", "note": "Seen on the account, ticket 43"}"""), 200);
		awaitStatus(id, SagaStatus.COMPLETED);
		assertThat(warehouse().log()).contains("paid 100");
		assertThat(audited()).satisfies((event) -> {
			assertThat(event.getType()).isEqualTo("SAGA_SIGNAL_SENT");
			assertThat(event.getData()).containsEntry("id", id)
				.containsEntry("signal", "paid")
				.containsEntry("note", "Seen on the account, ticket 43")
				.containsEntry("outcome", "DONE")
				.doesNotContainKey("value");
		});
		assertThat(output)
			.containsOnlyOnce(
					"An operator has requested to send the signal paid to the saga " + id + " (checkout): DONE")
			.doesNotContain("ticket 43");
		assertThat(
				json(post(id + "/signal", "{\"signal\":\"paid\",\"note\":\"again\"}"), 409).get("problem").asString())
			.startsWith("The saga has ended");
	}

	@Test
	void sendsNoSignalThatWouldHaveNoEffect() {
		String id = waitForPayment(this.order);
		assertThat(json(post(id + "/signal", "{\"note\":\"why\"}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'signal'");
		assertThat(json(post(id + "/signal", "{\"signal\":\"paid\"}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'note'");
		assertThat(
				json(post(id + "/signal", "{\"signal\":\"paid\",\"value\":\"{\",\"note\":\"why\"}"), 400).get("problem")
					.asString())
			.contains("is not JSON");
		assertThat(json(post(id + "/abort", "{\"signal\":\"paid\",\"note\":\"why\"}"), 400).get("problem").asString())
			.contains("sends no signal");
		String approved = "{\"signal\":\"approved\",\"value\":\"1\",\"note\":\"why\"}";
		assertThat(json(post(id + "/signal", approved), 409).get("problem").asString())
			.isEqualTo("The saga does not wait for this signal");
		json(post(ABSENT + "/signal", approved), 404);
		assertThat(json(get("/" + id), 200).at("/saga/waitsFor").asString()).isEqualTo("paid");
		json(post(id + "/abort", "{\"note\":\"not paid\"}"), 200);
		awaitStatus(id, SagaStatus.COMPENSATED);
		assertThat(warehouse().holds(this.order)).isFalse();
	}

	@Test
	void undoesTheOtherStepsOfASagaWhoseStepIsSkipped(CapturedOutput output) {
		String id = halt();
		JsonNode skipped = json(post(id + "/skip", SKIP), 200);
		assertThat(skipped.at("/saga/status").asString()).isEqualTo("HALTED");
		assertThat(skipped.at("/steps/1/state").asString()).isEqualTo("SKIPPED");
		assertThat(skipped.at("/steps/1/note").asString()).isEqualTo("Booked out by hand, ticket 42");
		assertThat(audited()).satisfies((event) -> {
			assertThat(event.getType()).isEqualTo("SAGA_STEP_SKIPPED");
			assertThat(event.getData()).containsEntry("id", id)
				.containsEntry("step", "hold")
				.containsEntry("note", "Booked out by hand, ticket 42")
				.containsEntry("outcome", "DONE");
		});
		assertThat(output)
			.containsOnlyOnce("An operator has requested to skip the step hold of the saga " + id + " (checkout): DONE")
			.doesNotContain("ticket 42");
		json(post(id + "/retry", ""), 200);
		awaitStatus(id, SagaStatus.COMPENSATED);
		assertThat(warehouse().holds(this.order)).isTrue();
		assertThat(warehouse().log()).contains("reject " + this.order)
			.doesNotContain("take back held for " + this.order);
	}

	@Test
	void doesNotKnowAnAbsentSagaOrStep() {
		assertThat(json(get("/" + ABSENT), 404).get("problem").asString()).isEqualTo("There is no saga with this id");
		json(post(ABSENT + "/retry", ""), 404);
		json(post(ABSENT + "/skip", SKIP), 404);
		assertThat(json(post(halt() + "/skip", "{\"step\":\"hodl\",\"note\":\"done\"}"), 404).get("problem").asString())
			.isEqualTo("The saga has recorded no step of this name");
		assertThat(application.bean(Audits.class).events()).isEmpty();
	}

	@Test
	void refusesInvalidRequests() {
		String id = halt();
		assertThat(json(get("/4711"), 400).get("problem").asString()).contains("64 lower-case hexadecimal digits");
		assertThat(json(get("/list?status=stuck"), 400).get("action").asString()).contains("COMPENSATING, COMPLETED");
		assertThat(json(get("/list?name="), 400).get("problem").asString()).isEqualTo("The parameter 'name' is empty");
		assertThat(json(get("/list?limit=501"), 400).get("action").asString()).contains("at most 500");
		for (String after : List.of("", "4711", "h1-", "o99999999999999999999-" + id)) {
			assertThat(json(get("/list?after=" + after), 400).get("problem").asString())
				.isEqualTo("The parameter 'after' is not the end of a page");
		}
		assertThat(json(post(id + "/retry", "{\"note\":\"" + "x".repeat(1001) + "\"}"), 400).get("problem").asString())
			.isEqualTo("The 'note' is too long");
		assertThat(json(get("/list?limit=many"), 400).get("problem").asString()).contains("'limit'");
		assertThat(json(post(id + "/explode", ""), 400).get("action").asString()).contains("/retry", "/skip");
		assertThat(json(post("4711/retry", ""), 400).get("problem").asString()).contains("no id of a saga");
		assertThat(json(post(id + "/retry", SKIP), 400).get("problem").asString()).contains("the whole saga");
		assertThat(json(post(id + "/skip", "{\"note\":\"done\"}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'step'");
		assertThat(json(post(id + "/skip", "{\"step\":\"hold\",\"note\":\" \"}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'note'");
		String endless = "{\"step\":\"hold\",\"note\":\"" + "x".repeat(1001) + "\"}";
		assertThat(json(post(id + "/skip", endless), 400).get("problem").asString())
			.isEqualTo("The 'note' is too long");
		assertThat(application.bean(Audits.class).events()).isEmpty();
		assertThat(json(get("/" + id), 200).at("/saga/status").asString()).isEqualTo("HALTED");
	}

	@Test
	void changesNothingThatIsNotHalted() {
		checkout().place(this.order, "good");
		String id = json(get("/list?status=COMPLETED"), 200).at("/sagas/0/id").asString();
		assertThat(json(post(id + "/retry", ""), 409).get("problem").asString())
			.isEqualTo("The saga is not halted: it is COMPLETED");
		json(post(id + "/skip", SKIP), 409);
		assertThat(application.bean(Audits.class).events()).isEmpty();
	}

	@Test
	void skipsNeitherAnUndoneStepNorOneThatMayStillCount() {
		String id = halt();
		JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
		jdbc.update("update operated_saga_step set state = 'COMPENSATED' where name = 'hold'");
		assertThat(json(post(id + "/skip", SKIP), 409).get("problem").asString())
			.isEqualTo("The step is already undone");
		jdbc.update("update operated_saga_step set state = 'DONE' where name = 'hold'");
		jdbc.update("update operated_saga_instance set halted_in = 'EXECUTING'");
		assertThat(json(post(id + "/skip", SKIP), 409).get("problem").asString())
			.startsWith("The saga was halted before it was undone");
		assertThat(application.bean(Audits.class).events()).isEmpty();
	}

	/**
	 * The saga undoes the order by itself, and the charge has no undo.
	 */
	@Test
	void offersToSkipOnlyWhatTheSagaCannotUndo() {
		String id = halt();
		assertThat(json(get("/" + id), 200).get("steps")).extracting((step) -> step.get("stuck").asBoolean())
			.containsExactly(false, true, false);
		assertThat(json(post(id + "/skip", "{\"step\":\"charge\",\"note\":\"done\"}"), 409).get("problem").asString())
			.startsWith("The saga does not undo this step");
	}

	@Test
	void closesASagaThatNoVersionOfTheApplicationCanContinue(CapturedOutput output) {
		String id = halt();
		JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
		jdbc.update("update operated_saga_instance set halted_in = 'EXECUTING', name = 'gone'");
		String haltedAt = json(get("/" + id), 200).at("/saga/haltedAt").asString();
		JsonNode closed = json(post(id + "/close", close(haltedAt)), 200);
		assertThat(closed.at("/saga/status").asString()).isEqualTo("COMPENSATED");
		assertThat(closed.at("/saga/reason").asString())
			.isEqualTo("An operator has closed the saga: Paid back, ticket 42");
		assertThat(closed.get("steps")).extracting((step) -> step.get("state").asString())
			.containsExactly("SKIPPED", "SKIPPED", "REFUSED");
		assertThat(audited()).satisfies((event) -> {
			assertThat(event.getType()).isEqualTo("SAGA_CLOSED");
			assertThat(event.getData()).containsEntry("id", id)
				.containsEntry("note", "Paid back, ticket 42")
				.containsEntry("outcome", "DONE");
			assertThat(String.valueOf(event.getData().get("haltReason"))).contains("The goods have left the warehouse");
		});
		assertThat(output).containsOnlyOnce("An operator has requested to close the saga " + id + " (gone): DONE")
			.doesNotContain("ticket 42");
		assertThat(json(post(id + "/close", close(haltedAt)), 409).get("problem").asString())
			.isEqualTo("The saga is not halted: it is COMPENSATED");
	}

	/**
	 * An operator has retried a saga whose method is gone.
	 */
	@Test
	void closesAnOpenSagaThatNoInstanceContinues() {
		String id = halt();
		JdbcTemplate jdbc = application.bean(JdbcTemplate.class);
		assertThat(json(post(id + "/close", "{\"note\":\"Paid back\"}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'haltedAt'");
		jdbc.update("update operated_saga_instance set status = 'EXECUTING', halted_in = null, name = 'gone', "
				+ "due_at = clock_timestamp() + interval '1 hour'");
		assertThat(json(post(id + "/close", "{\"note\":\"Paid back\"}"), 409).get("problem").asString())
			.isEqualTo("The saga is not halted: another instance runs it, or waits for its next attempt");
		jdbc.update("update operated_saga_instance set due_at = clock_timestamp() - interval '30 seconds'");
		assertThat(json(post(id + "/close", "{\"note\":\"Paid back\"}"), 409).get("problem").asString())
			.contains("has not been due for PT1M");
		assertThat(application.bean(Audits.class).events()).isEmpty();
		jdbc.update("update operated_saga_instance set due_at = clock_timestamp() - interval '2 minutes'");
		assertThat(json(post(id + "/close", "{\"note\":\"Paid back\"}"), 200).at("/saga/status").asString())
			.isEqualTo("COMPENSATED");
		assertThat(audited().getType()).isEqualTo("SAGA_CLOSED");
	}

	@Test
	void closesNoOpenSagaThatThisInstanceCanRun() {
		String id = halt();
		application.bean(JdbcTemplate.class)
			.update("update operated_saga_instance set status = 'COMPENSATING', halted_in = null, owner = 'other', "
					+ "due_at = clock_timestamp() + interval '1 hour'");
		assertThat(json(post(id + "/close", "{\"note\":\"Paid back\"}"), 409).get("problem").asString())
			.isEqualTo("The saga is not halted: it is COMPENSATING, and this instance can run it");
	}

	/**
	 * The saga that the operator has looked at has run again since, and was halted again.
	 */
	@Test
	void closesOnlyTheHaltThatTheOperatorHasSeen() {
		String id = halt();
		String seen = json(get("/" + id), 200).at("/saga/haltedAt").asString();
		json(post(id + "/retry", ""), 200);
		awaitStatus(id, SagaStatus.HALTED);
		assertThat(json(post(id + "/close", close(seen)), 409).get("problem").asString())
			.isEqualTo("The saga was halted again since then");
		assertThat(json(post(id + "/close", "{\"note\":\"Paid back\"}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'haltedAt'");
		assertThat(json(post(id + "/close", "{\"haltedAt\":\"" + seen + "\"}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'note'");
		assertThat(json(post(id + "/close", close("yesterday")), 400).get("problem").asString())
			.isEqualTo("The parameter 'haltedAt' is not a time");
		assertThat(json(get("/" + id), 200).at("/saga/status").asString()).isEqualTo("HALTED");
		assertThat(application.bean(Audits.class).events()).hasSize(1);
	}

	@Test
	void undoesASagaThatIsAborted() {
		String id = halt();
		assertThat(json(post(id + "/abort", "{\"note\":\"wrong price\"}"), 409).get("problem").asString())
			.isEqualTo("The saga is being undone already");
		application.bean(JdbcTemplate.class).update("update operated_saga_instance set halted_in = 'EXECUTING'");
		assertThat(json(post(id + "/abort", "{}"), 400).get("problem").asString())
			.isEqualTo("The request has no 'note'");
		assertThat(application.bean(Audits.class).events()).isEmpty();
		warehouse().acceptReturns(true);
		json(post(id + "/abort", "{\"note\":\"wrong price\"}"), 200);
		awaitStatus(id, SagaStatus.COMPENSATED);
		assertThat(warehouse().holds(this.order)).isFalse();
		assertThat(json(get("/" + id), 200).at("/saga/reason").asString())
			.isEqualTo("An operator has aborted the saga: wrong price");
		assertThat(audited().getType()).isEqualTo("SAGA_ABORTED");
		assertThat(json(post(id + "/abort", "{\"note\":\"wrong price\"}"), 409).get("problem").asString())
			.isEqualTo("The saga has ended: it is COMPENSATED");
	}

	@Test
	void retriesManyByNameReasonAndTime() {
		String first = halt();
		String second = haltAnother();
		String third = haltAnother();
		application.bean(JdbcTemplate.class)
			.update("update operated_saga_instance set halt_reason = 'The bank is closed' where id = ?", second);
		String time = json(get("/" + third), 200).at("/saga/haltedAt").asString();
		warehouse().acceptReturns(true);
		assertThat(json(post("retry", "{\"name\":\"other\",\"note\":\"x\"}"), 200).toString())
			.isEqualTo("{\"retried\":0,\"more\":false}");
		assertThat(json(post("retry", "{\"reason\":\"bank\",\"note\":\"It is open\"}"), 200).toString())
			.isEqualTo("{\"retried\":1,\"more\":false}");
		awaitStatus(second, SagaStatus.COMPENSATED);
		assertThat(audited().getData()).containsEntry("id", second).containsEntry("note", "It is open");
		assertThat(json(post("retry", "{\"name\":\"checkout\",\"haltedAfter\":\"" + time + "\"}"), 200).get("retried")
			.asInt()).isOne();
		awaitStatus(third, SagaStatus.COMPENSATED);
		assertThat(json(get("/" + first), 200).at("/saga/status").asString()).isEqualTo("HALTED");
		assertThat(json(post("retry", "{\"haltedBefore\":\"" + time + "\"}"), 200).get("retried").asInt()).isOne();
		awaitStatus(first, SagaStatus.COMPENSATED);
		assertThat(application.bean(Audits.class).events()).hasSize(3);
	}

	@Test
	void retriesAtMostAsManyAsAreRequested() {
		halt();
		haltAnother();
		warehouse().acceptReturns(true);
		assertThat(json(post("retry", "{\"all\":true,\"limit\":\"1\"}"), 200).toString())
			.isEqualTo("{\"retried\":1,\"more\":true}");
		assertThat(json(post("retry", "{\"all\":true,\"limit\":\"1\"}"), 200).toString())
			.isEqualTo("{\"retried\":1,\"more\":false}");
	}

	@Test
	void retriesManyOnlyIfTheRequestSaysWhich() {
		String id = halt();
		for (String body : List.of("{}", "{\"all\":false}", "{\"all\":true,\"name\":\"checkout\"}")) {
			assertThat(json(post("retry", body), 400).get("action").asString()).contains("all=true");
		}
		json(post("retry", "{\"key\":\"1\",\"all\":true}"), 400);
		json(post("close", "{\"all\":true}"), 400);
		json(post("retry?operation=find", "{\"all\":true}"), 400);
		assertThat(json(get("/" + id), 200).at("/saga/status").asString()).isEqualTo("HALTED");
		assertThat(application.bean(Audits.class).events()).isEmpty();
	}

	@Test
	void findsASagaByItsKey() {
		String id = halt();
		assertThat(json(post("find", "{\"name\":\"checkout\",\"key\":\"" + this.order + "\"}"), 200).at("/saga/id")
			.asString()).isEqualTo(id);
		json(post("find", "{\"name\":\"other\",\"key\":\"" + this.order + "\"}"), 404);
		json(post("find", "{\"name\":\"checkout\",\"key\":\"4711\"}"), 404);
		json(post("find", "{\"name\":\"checkout\"}"), 400);
	}

	@Test
	void isPartOfTheApplicationsHealth() {
		halt();
		JsonNode saga = json(application.send(application.request("/actuator/health").GET().build()), 200)
			.at("/components/saga");
		assertThat(saga.get("status").asString()).isEqualTo("UP");
		assertThat(saga.get("details").toString()).isEqualTo("{\"oldestDueAge\":\"PT0S\",\"maxDueAge\":\"PT5M\","
				+ "\"halted\":1,\"unserved\":0,\"warning\":\"Halted sagas need an operator: see the endpoint 'saga'\"}");
	}

	/**
	 * Starts a saga that waits for its payment.
	 */
	private static String waitForPayment(String order) {
		return catchThrowableOfType(SagaWaitingException.class, () -> checkout().place(order, "transfer")).id()
			.digest();
	}

	private String halt() {
		warehouse().acceptReturns(false);
		return catchThrowableOfType(SagaHaltedException.class, () -> checkout().place(this.order, "refused")).id()
			.digest();
	}

	private static String haltAnother() {
		return catchThrowableOfType(SagaHaltedException.class,
				() -> checkout().place(UUID.randomUUID().toString(), "refused"))
			.id()
			.digest();
	}

	private static String close(String haltedAt) {
		return "{\"haltedAt\":\"" + haltedAt + "\",\"note\":\"Paid back, ticket 42\"}";
	}

	private void awaitStatus(String id, SagaStatus status) {
		await().untilAsserted(() -> assertThat(application.bean(Sagas.class).find(new IdempotencyKey(id)))
			.hasValueSatisfying((saga) -> assertThat(saga.status()).isEqualTo(status)));
	}

	private static AuditEvent audited() {
		List<AuditEvent> events = application.bean(Audits.class).events();
		assertThat(events).hasSize(1);
		return events.get(0);
	}

	private static Checkout checkout() {
		return application.bean(Checkout.class);
	}

	private static Warehouse warehouse() {
		return application.bean(Warehouse.class);
	}

	private static HttpResponse<byte[]> get(String path) {
		return application.send(application.request("/actuator/saga" + path).GET().build());
	}

	private static HttpResponse<byte[]> post(String path, String json) {
		return application.post("/actuator/saga/" + path, json);
	}

	private static JsonNode json(HttpResponse<byte[]> response, int status) {
		assertThat(response.statusCode()).as(text(response)).isEqualTo(status);
		return JsonMapper.shared().readTree(response.body());
	}

}
