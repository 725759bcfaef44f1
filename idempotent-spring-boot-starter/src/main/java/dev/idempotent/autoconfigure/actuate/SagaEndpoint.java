package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.HaltReason;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.engine.SagaAdministration.OperatedStep;
import dev.idempotent.saga.engine.SagaAdministration.Page;
import dev.idempotent.saga.method.SagaCalls;
import dev.idempotent.saga.method.SagaKeys;
import dev.idempotent.saga.store.SagaStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.dao.DataAccessException;

/**
 * The actuator's endpoint {@code saga}: shows sagas without arguments and results, finds
 * them by their keys, retries, aborts and closes them, sends them signals and skips steps
 * of them, or explains why that is not possible.
 */
@WebEndpoint(id = "saga")
@RegisterReflectionForBinding({ SagaEndpoint.Overview.class, SagaEndpoint.Answer.class })
final class SagaEndpoint extends OperatorEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(SagaEndpoint.class);

	private static final String OPERATIONS = "POST /actuator/saga/{id}/retry, /skip, /signal, /abort or /close, "
			+ "POST /actuator/saga/retry or /find";

	/**
	 * How many halted sagas a retry of many examines.
	 */
	private static final int MOST_EXAMINED = 10_000;

	private static final int PAGE = 500;

	private final SagaAdministration sagas;

	private final SagaKeys keys;

	private final Supplier<Counts> counts;

	private final Supplier<Instance> instance;

	private final Supplier<SagaCalls> calls;

	private final ApplicationEventPublisher publisher;

	/**
	 * Creates the endpoint.
	 * @param keys the ids of sagas
	 * @param counts counts the sagas in the database
	 * @param instance supplies the state of this instance
	 * @param calls supplies what sends signals
	 */
	SagaEndpoint(SagaAdministration sagas, SagaKeys keys, Supplier<Counts> counts, Supplier<Instance> instance,
			Supplier<SagaCalls> calls, ApplicationEventPublisher publisher) {
		this.sagas = sagas;
		this.keys = keys;
		this.counts = counts;
		this.instance = instance;
		this.calls = calls;
		this.publisher = publisher;
	}

	@ReadOperation
	WebEndpointResponse<?> summary() {
		return answer(() -> new Overview(Numbers.of(this.counts.get()), this.instance.get()));
	}

	@ReadOperation
	WebEndpointResponse<?> read(@Selector String part, @Nullable String status, @Nullable String name,
			@Nullable String after, @Nullable String limit) {
		return answer(() -> part.equals("list") ? list(status, name, after, limit) : Answer.of(require(id(part))));
	}

	@WriteOperation
	WebEndpointResponse<?> change(@Selector String id, @Selector String operation, @Nullable String step,
			@Nullable String haltedAt, @Nullable String signal, @Nullable String value, @Nullable String note,
			SecurityContext security) {
		return answer(() -> {
			requireInPath(id, operation);
			IdempotencyKey saga = id(id);
			if (!operation.equals("skip")) {
				requireNo(step, "step", "skip", "concerns the whole saga");
			}
			if (!operation.equals("close")) {
				requireNo(haltedAt, "haltedAt", "close", "does not take it");
			}
			if (!operation.equals("signal")) {
				requireNo(signal, "signal", "signal", "sends no signal");
				requireNo(value, "value", "signal", "sends no signal");
			}
			switch (operation) {
				case "retry" -> retry(requireHalted(saga), note(note), security);
				case "skip" ->
					skip(saga, requireStep(step), requireNote(note, "how the step was undone by hand"), security);
				case "signal" -> signal(saga, requireSignal(signal), value,
						requireNote(note, "why the signal is sent by hand"), security);
				case "abort" -> abort(saga, requireNote(note, "why the saga is to be undone"), security);
				case "close" -> close(saga, instant("haltedAt", haltedAt),
						requireNote(note, "how what the saga has done was undone by hand"), security);
				default -> throw invalid("There is no operation of this name", OPERATIONS);
			}
			return Answer.of(require(saga));
		});
	}

	@WriteOperation
	WebEndpointResponse<?> changeMany(@Selector String operation, @Nullable String name, @Nullable String key,
			@Nullable String reason, @Nullable String haltedAfter, @Nullable String haltedBefore, @Nullable Boolean all,
			@Nullable String limit, @Nullable String note, SecurityContext security) {
		return answer(() -> {
			requireInPath(operation);
			if (operation.equals("find")) {
				return Answer.of(find(stated("name", name), stated("key", key)));
			}
			if (!operation.equals("retry")) {
				throw invalid("There is no operation of this name", OPERATIONS);
			}
			requireNo(key, "key", "find", "takes no key");
			HaltedFilter halted = new HaltedFilter(stated("name", name), stated("reason", reason),
					instant("haltedAfter", haltedAfter), instant("haltedBefore", haltedBefore));
			if (Boolean.TRUE.equals(all) != halted.equals(HaltedFilter.ALL)) {
				throw invalid("The request states neither which halted sagas to retry nor all of them, or both",
						"Specify name, reason, haltedAfter or haltedBefore, or all=true for all of them");
			}
			return retryMany(halted, limit(limit), note(note), security);
		});
	}

	/**
	 * Finds a saga by its key, which is in no address and no log.
	 */
	private OperatedSaga find(@Nullable String name, @Nullable String key) {
		if (name == null || key == null) {
			throw invalid("The request has no 'name' or no 'key'",
					"Set 'name' to the name of the @Saga, and 'key' to what its key expression yields");
		}
		List<IdempotencyKey> ids;
		try {
			ids = this.keys.candidates(name, key);
		}
		catch (IllegalArgumentException ex) {
			throw invalid("No saga has such a key: it contains half of a character", "Write the whole text");
		}
		List<OperatedSaga> found = ids.stream()
			.map(this.sagas::inspect)
			.filter(Objects::nonNull)
			.map(Objects::requireNonNull)
			.toList();
		if (found.isEmpty()) {
			throw absent("There is no saga of this name with this key",
					"Write a text as it is, and other keys as JSON. A saga is absent before its first step is recorded "
							+ "and after its retention (idempotent.saga.retention). The id of a saga whose key is an "
							+ "object is computed by Sagas.idOf");
		}
		if (found.size() > 1) {
			throw conflict("There are several sagas with this key: one is a text, another one is not",
					"Write the key as JSON in a text, with quotes if it is a text");
		}
		return found.get(0);
	}

	/**
	 * Retries the halted sagas that an operator has described, each as it was when it was
	 * listed.
	 */
	private Map<String, Object> retryMany(HaltedFilter halted, int limit, @Nullable String note,
			SecurityContext security) {
		List<OperatedSaga> matching = new ArrayList<>();
		String after = null;
		int examined = 0;
		do {
			Page page = this.sagas.list(SagaStatus.HALTED, halted.name(), after, PAGE);
			page.sagas().stream().filter(halted::matches).forEach(matching::add);
			examined += page.sagas().size();
			after = page.next();
		}
		while (after != null && matching.size() <= limit && examined < MOST_EXAMINED);
		int retried = 0;
		for (OperatedSaga saga : matching.subList(0, Math.min(limit, matching.size()))) {
			if (apply(Act.RETRY, saga, null, note, security, () -> this.sagas.retry(saga.version()))) {
				retried++;
			}
		}
		Map<String, Object> answer = new LinkedHashMap<>();
		answer.put("retried", retried);
		answer.put("more", after != null || matching.size() > limit);
		return answer;
	}

	private Map<String, @Nullable Object> list(@Nullable String status, @Nullable String name, @Nullable String after,
			@Nullable String limit) {
		Page page = page(status(status), stated("name", name), after, limit(limit));
		Map<String, @Nullable Object> answer = new LinkedHashMap<>();
		answer.put("sagas", page.sagas().stream().map(SagaDetails::of).toList());
		answer.put("next", page.next());
		return answer;
	}

	private Page page(@Nullable SagaStatus status, @Nullable String name, @Nullable String after, int limit) {
		try {
			return this.sagas.list(status, name, after, limit);
		}
		catch (IllegalArgumentException ex) {
			if (after == null) {
				throw ex;
			}
			throw invalid("The parameter 'after' is not the end of a page",
					"Specify the value of 'next' of the previous page");
		}
	}

	private void retry(OperatedSaga saga, @Nullable String note, SecurityContext security) {
		if (!apply(Act.RETRY, saga, null, note, security, () -> this.sagas.retry(saga.version()))) {
			requireHalted(saga.id());
			throw changed();
		}
	}

	private void skip(IdempotencyKey id, String step, String note, SecurityContext security) {
		OperatedSaga saga = requireHalted(id);
		requireNotUndone(saga, step, note);
		if (!apply(Act.SKIP, saga, step, note, security, () -> this.sagas.skip(id, step, note))) {
			requireNotUndone(requireHalted(id), step, note);
			throw changed();
		}
	}

	private void abort(IdempotencyKey id, String note, SecurityContext security) {
		OperatedSaga saga = requireForward(id);
		if (!apply(Act.ABORT, saga, null, note, security, () -> this.sagas.abort(id, note))) {
			requireForward(id);
			throw conflict(
					"The saga has changed in the meantime, is about to be undone, or has a step in a transaction",
					"Look at it again, and repeat the request if it is still needed");
		}
	}

	/**
	 * Sends a signal whose value the operator has written as JSON.
	 */
	private void signal(IdempotencyKey id, String signal, @Nullable String value, String note,
			SecurityContext security) {
		OperatedSaga saga = requireForward(id);
		if (!signal.equals(saga.waitsFor())) {
			throw conflict("The saga does not wait for this signal",
					(saga.waitsFor() != null)
							? "Set 'signal' to '" + saga.waitsFor() + "', or wait until it waits for it"
							: "Wait until it waits for a signal");
		}
		SignalResult result;
		try {
			result = this.calls.get().signalJson(id, signal, value);
		}
		catch (IllegalArgumentException ex) {
			throw invalid("The signal cannot be sent: " + ex.getMessage(),
					"Set 'signal' to the name of the signal, and 'value' to a text with its value as JSON");
		}
		catch (DataAccessException ex) {
			publish(Act.SIGNAL, saga, signal, note, UNKNOWN, security);
			throw ex;
		}
		if (result == SignalResult.TOO_LATE) {
			requireForward(id);
			throw conflict("The saga does not wait for this signal any more", "Look at the saga again");
		}
		if (result != SignalResult.ACCEPTED) {
			throw conflict("A signal of this name was sent before, and the first one counts",
					"Abort the saga if it must not go on with the value of the first one");
		}
		publish(Act.SIGNAL, saga, signal, note, "DONE", security);
	}

	/**
	 * Closes the saga that the operator has looked at: the time at which it was halted
	 * shows that nothing has run since. An open one is closed if no instance takes it
	 * over.
	 */
	private void close(IdempotencyKey id, @Nullable Instant haltedAt, String note, SecurityContext security) {
		OperatedSaga saga = require(id);
		if (saga.status().isOpen()) {
			requireForsaken(saga);
		}
		else {
			requireSeen(requireHalted(id), haltedAt);
		}
		if (!apply(Act.CLOSE, saga, null, note, security, () -> this.sagas.close(saga.version(), note))) {
			throw conflict("The saga has changed in the meantime, or has not been due for "
					+ SagaAdministration.FORSAKEN + " yet",
					"Look at it again, and repeat the request if it is still needed");
		}
	}

	/**
	 * Refuses to close an open saga that this instance would run.
	 */
	private void requireForsaken(OperatedSaga saga) {
		if (this.instance.get().served().contains(saga.name())) {
			throw conflict("The saga is not halted: it is " + saga.status() + ", and this instance can run it",
					"Wait: it continues by itself. Abort it so that it is undone");
		}
		if (!Duration.ZERO.equals(saga.dueIn())) {
			throw conflict("The saga is not halted: another instance runs it, or waits for its next attempt",
					"Abort it so that it is undone, or wait until it is halted");
		}
	}

	private static void requireSeen(OperatedSaga saga, @Nullable Instant haltedAt) {
		if (haltedAt == null) {
			throw invalid("The request has no 'haltedAt'",
					"Set it to 'haltedAt' of the saga, as GET /actuator/saga/{id} shows it, so that only the saga that "
							+ "you have looked at is closed");
		}
		if (!haltedAt.equals(saga.haltedAt())) {
			throw conflict("The saga was halted again since then", "Look at it again: it may have run since");
		}
	}

	private static Refusal changed() {
		return conflict("The saga has changed in the meantime",
				"Look at it again, and repeat the request if it is still needed");
	}

	/**
	 * Makes a change, which has no effect if the saga has changed since it was read.
	 */
	private boolean apply(Act act, OperatedSaga saga, @Nullable String step, @Nullable String note,
			SecurityContext security, BooleanSupplier change) {
		boolean changed;
		try {
			changed = change.getAsBoolean();
		}
		catch (DataAccessException ex) {
			publish(act, saga, step, note, UNKNOWN, security);
			throw ex;
		}
		if (changed) {
			publish(act, saga, step, note, "DONE", security);
		}
		return changed;
	}

	/**
	 * Publishes an audit event, and logs the change without the operator's note.
	 */
	private void publish(Act act, OperatedSaga saga, @Nullable String step, @Nullable String note, String outcome,
			SecurityContext security) {
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("id", saga.id().digest());
		data.put("saga", saga.name());
		if (act == Act.SIGNAL && step != null) {
			logger.info("An operator has requested to send the signal {} to the saga {} ({}): {}", step, saga.id(),
					saga.name(), outcome);
			data.put("signal", step);
		}
		else if (step != null) {
			logger.info("An operator has requested to skip the step {} of the saga {} ({}): {}", step, saga.id(),
					saga.name(), outcome);
			data.put("step", step);
		}
		else {
			logger.info("An operator has requested to {} the saga {} ({}): {}", act.name().toLowerCase(Locale.ROOT),
					saga.id(), saga.name(), outcome);
		}
		if (note != null) {
			data.put("note", note);
		}
		if (act == Act.CLOSE && saga.haltReason() != null) {
			data.put("haltReason", saga.haltReason());
		}
		data.put("outcome", outcome);
		audit(this.publisher, security, act.event, data);
	}

	private OperatedSaga require(IdempotencyKey id) {
		OperatedSaga saga = this.sagas.inspect(id);
		if (saga == null) {
			throw absent("There is no saga with this id",
					"List sagas with GET /actuator/saga/list. A saga is absent before its first step is recorded and "
							+ "after its retention (idempotent.saga.retention)");
		}
		return saga;
	}

	private OperatedSaga requireHalted(IdempotencyKey id) {
		OperatedSaga saga = require(id);
		if (saga.status() != SagaStatus.HALTED) {
			throw conflict("The saga is not halted: it is " + saga.status(), saga.status().isOpen()
					? "Wait: it continues by itself" : "Nothing can be done: the saga has ended");
		}
		return saga;
	}

	private OperatedSaga requireForward(IdempotencyKey id) {
		OperatedSaga saga = require(id);
		SagaStatus direction = (saga.haltedIn() != null) ? saga.haltedIn() : saga.status();
		if (direction == SagaStatus.COMPENSATING) {
			throw conflict("The saga is being undone already",
					(saga.haltedIn() != null) ? "Correct the cause and retry it, or undo it by hand and close it"
							: "Wait: it continues by itself");
		}
		if (!direction.isOpen()) {
			throw conflict("The saga has ended: it is " + saga.status(), "Nothing can be done");
		}
		return saga;
	}

	private static void requireNotUndone(OperatedSaga saga, String step, @Nullable String note) {
		OperatedStep recorded = saga.steps()
			.stream()
			.filter((each) -> each.name().equals(step))
			.findFirst()
			.orElseThrow(() -> absent("The saga has recorded no step of this name",
					"Take the name from GET /actuator/saga/{id}"));
		if (saga.haltedIn() != SagaStatus.COMPENSATING) {
			throw conflict("The saga was halted before it was undone, so it may still complete",
					"Retry the saga, or abort it, so that it is undone");
		}
		if (recorded.state().equals(StepState.COMPENSATED.name())) {
			throw conflict("The step is already undone", "Retry the saga, or skip another step");
		}
		if (recorded.state().equals(StepState.SKIPPED.name())
				&& !Objects.equals(recorded.note(), SagaStore.text(note))) {
			throw conflict("The step is already skipped, with another note",
					"Find out from the note and the audit log who has undone it. Retry the saga, or skip another step");
		}
		if (!recorded.isToUndo() && !recorded.state().equals(StepState.SKIPPED.name())) {
			throw conflict("The saga does not undo this step: it has no undo, or was refused",
					"Retry the saga, or skip another step");
		}
	}

	private static IdempotencyKey id(String id) {
		return digest(id, "id of a saga", "Take it from the log, from GET /actuator/saga/list, or use 'list'");
	}

	private static @Nullable SagaStatus status(@Nullable String status) {
		if (status == null) {
			return null;
		}
		return Arrays.stream(SagaStatus.values())
			.filter((each) -> each.name().equals(status.toUpperCase(Locale.ROOT)))
			.findFirst()
			.orElseThrow(() -> invalid("The parameter 'status' is not the status of a saga",
					"Set it to one of "
							+ Arrays.stream(SagaStatus.values()).map(SagaStatus::name).collect(Collectors.joining(", "))
							+ ", or omit it for sagas that are open or halted"));
	}

	private static String requireStep(@Nullable String step) {
		if (step == null || step.isBlank()) {
			throw invalid("The request has no 'step'",
					"Set 'step' to the name of a step as GET /actuator/saga/{id} shows it");
		}
		return step;
	}

	private static String requireSignal(@Nullable String signal) {
		if (signal == null || signal.isBlank()) {
			throw invalid("The request has no 'signal'", "Set 'signal' to the name for which the saga waits");
		}
		return signal;
	}

	private static String requireNote(@Nullable String note, String what) {
		String stated = note(note);
		if (stated == null) {
			throw invalid("The request has no 'note'", "Set 'note' to " + what + ", without personal data");
		}
		return stated;
	}

	/**
	 * Refuses what would have no effect.
	 * @param operation the operation that has an effect with it
	 */
	private static void requireNo(@Nullable String value, String name, String operation, String why) {
		if (value != null) {
			throw invalid("This operation " + why + ", but the request has '" + name + "'",
					"Omit it, or use the operation '" + operation + "'");
		}
	}

	private static @Nullable Instant instant(String name, @Nullable String value) {
		if (value == null) {
			return null;
		}
		try {
			return Instant.parse(value);
		}
		catch (DateTimeParseException ex) {
			throw invalid("The parameter '" + name + "' is not a time", "Write it as 2026-03-01T03:04:11.298468Z");
		}
	}

	private static @Nullable String text(@Nullable Object value) {
		return (value != null) ? value.toString() : null;
	}

	@Override
	@Nullable Refusal refusal(RuntimeException failure) {
		return ofDatabase(failure, "Check that the database is reachable and has the tables of sagas, then look the "
				+ "saga up and repeat the request if it is still needed");
	}

	/**
	 * What an operator does to a saga.
	 */
	private enum Act {

		RETRY("SAGA_RETRIED"), SKIP("SAGA_STEP_SKIPPED"), SIGNAL("SAGA_SIGNAL_SENT"), ABORT("SAGA_ABORTED"),
		CLOSE("SAGA_CLOSED");

		private final String event;

		Act(String event) {
			this.event = event;
		}

	}

	/**
	 * Which halted sagas to retry.
	 *
	 * @param name their name, or {@code null}
	 * @param reason a part of the reason why they are halted, or {@code null}
	 * @param after when they were halted at the earliest, or {@code null}
	 * @param before when they were halted at the latest, or {@code null}
	 */
	private record HaltedFilter(@Nullable String name, @Nullable String reason, @Nullable Instant after,
			@Nullable Instant before) {

		private static final HaltedFilter ALL = new HaltedFilter(null, null, null, null);

		boolean matches(OperatedSaga saga) {
			Instant haltedAt = saga.haltedAt();
			return (this.name == null || this.name.equals(saga.name()))
					&& (this.reason == null || String.valueOf(saga.haltReason()).contains(this.reason))
					&& haltedAt != null && (this.after == null || !haltedAt.isBefore(this.after))
					&& (this.before == null || !haltedAt.isAfter(this.before));
		}

	}

	/**
	 * The state of sagas.
	 *
	 * @param sagas in the database, the same for all instances
	 * @param instance the instance that responds
	 */
	record Overview(Numbers sagas, Instance instance) {
	}

	/**
	 * The numbers of sagas.
	 *
	 * @param byStatus of sagas that have not ended, up to 10,000 for each status
	 * @param exact whether there are no more
	 * @param waiting how many wait for a signal or for some time
	 * @param unserved how many are open and have a name that this instance has no method
	 * for
	 * @param oldestDueAge how long the oldest due saga has waited for an instance, in
	 * ISO-8601 format
	 */
	record Numbers(Map<SagaStatus, Integer> byStatus, boolean exact, int waiting, int unserved, String oldestDueAge) {

		static Numbers of(Counts counts) {
			Map<SagaStatus, Integer> all = new TreeMap<>();
			List.of(SagaStatus.STARTED, SagaStatus.EXECUTING, SagaStatus.COMPENSATING, SagaStatus.HALTED)
				.forEach((status) -> all.put(status, counts.byStatus().getOrDefault(status, 0)));
			return new Numbers(all, counts.exact(), counts.waiting(), counts.unserved(), counts.oldestDue().toString());
		}

	}

	/**
	 * The state of an instance.
	 *
	 * @param process the id of its process, the {@code owner} of its sagas; {@code null}
	 * if the application has no saga
	 * @param running how many sagas it runs
	 * @param served the names of the sagas that it can run
	 */
	record Instance(@Nullable String process, int running, Collection<String> served) {
	}

	/**
	 * A saga with its steps.
	 *
	 * @param saga the saga
	 * @param haltedStep the step at which it was halted and which a retry repeats, or
	 * {@code null}
	 * @param steps the recorded steps and waits, in the order in which they began
	 * @param meaning what the status means
	 * @param action what to do about the reason for which it was halted, or {@code null}
	 */
	record Answer(SagaDetails saga, @Nullable String haltedStep, List<Step> steps, String meaning,
			@Nullable String action) {

		static Answer of(OperatedSaga saga) {
			return new Answer(SagaDetails.of(saga), saga.haltedStep(),
					saga.steps().stream().map((step) -> Step.of(saga, step)).toList(), meaning(saga),
					(saga.status() == SagaStatus.HALTED) ? HaltReason.of(SagaDetails.reasonOf(saga)).action() : null);
		}

		private static String meaning(OperatedSaga saga) {
			return switch (saga.status()) {
				case STARTED -> "An instance that has a method of this name runs it";
				case EXECUTING -> (saga.waitsFor() != null)
						? "It waits for '" + saga.waitsFor() + "', and goes on when that arrives or its time has passed"
						: "Its steps are run. If they fail, or the deadline passes, it is undone";
				case COMPENSATING -> "Its steps are undone. If that fails, it is repeated or halted";
				case COMPLETED -> "Each step has taken effect once: retries get the stored result";
				case COMPENSATED -> "The steps that had taken effect are undone: retries get an error";
				case HALTED -> halted(saga);
			};
		}

		private static String halted(OperatedSaga saga) {
			boolean undone = saga.haltedIn() == SagaStatus.COMPENSATING;
			String step = saga.haltedStep();
			return "It was halted while its steps were " + (undone ? "undone" : "run")
					+ ((step != null) ? ", at the step '" + step + "'" : "")
					+ ". It does not continue by itself. Correct the cause and retry it"
					+ (undone ? ", or undo a step by hand, skip that step and retry"
							: ": it goes on with its steps, or is undone if its deadline has passed. Abort it to undo it")
					+ ". If no version of the application can continue it, undo by hand what it has done, and close it";
		}

	}

	/**
	 * A saga without its steps. Times are in ISO-8601 format, by the clock of the
	 * database.
	 *
	 * @param reason why it is halted or undone, or {@code null}
	 * @param undoReason why it is undone, or {@code null}
	 * @param attempts how often it was taken over without progress
	 * @param owner the process of the instance that runs it or was the last to, or
	 * {@code null}
	 * @param dueIn how long until any instance can continue it, or until an ended one is
	 * deleted; {@code null} if it is halted
	 * @param haltedIn the status in which it was halted and in which a retry continues,
	 * or {@code null}
	 * @param haltedAt when it was halted, or {@code null}
	 * @param waitsFor the name of the signal or the sleep for which it waits, or
	 * {@code null}
	 */
	record SagaDetails(String id, String name, SagaStatus status, @Nullable String reason, @Nullable String undoReason,
			int attempts, String createdAt, String deadline, @Nullable String owner, @Nullable String dueIn,
			@Nullable SagaStatus haltedIn, @Nullable String haltedAt, @Nullable String waitsFor) {

		/**
		 * A saga that is started in the background has no owner yet, only the process
		 * that has stored it.
		 */
		static SagaDetails of(OperatedSaga saga) {
			return new SagaDetails(saga.id().digest(), saga.name(), saga.status(), reasonOf(saga), saga.reason(),
					saga.attempts(), saga.createdAt().toString(), saga.deadline().toString(),
					(saga.status() != SagaStatus.STARTED) ? saga.process() : null, text(saga.dueIn()), saga.haltedIn(),
					text(saga.haltedAt()), saga.waitsFor());
		}

		private static @Nullable String reasonOf(OperatedSaga saga) {
			return (saga.haltReason() != null) ? saga.haltReason() : saga.reason();
		}

	}

	/**
	 * A recorded step. Times are in ISO-8601 format, by the clock of the database.
	 *
	 * @param kind how it runs and is undone
	 * @param reason why it was refused, or {@code null}
	 * @param note the note of the operator who skipped it, or {@code null}
	 * @param refusedUndos how often its undo was refused
	 * @param stuck whether the saga cannot undo it by itself, so that it may have to be
	 * skipped
	 * @param begunAt when it began
	 * @param compensatingAt when its undo began, or {@code null}
	 * @param endedAt when its action or its undo ended, or {@code null}
	 * @param actionKey the key of its action, which its calls carry or are derived from
	 * @param undoKey the same for its undo
	 */
	record Step(String name, String kind, String state, @Nullable String reason, @Nullable String note,
			int refusedUndos, boolean stuck, String begunAt, @Nullable String compensatingAt, @Nullable String endedAt,
			String actionKey, String undoKey) {

		static Step of(OperatedSaga saga, OperatedStep step) {
			return new Step(step.name(), step.kind(), step.state(), step.reason(), step.note(), step.refusedUndos(),
					saga.isStuck(step), step.begunAt().toString(), text(step.compensatingAt()), text(step.endedAt()),
					saga.actionKey(step).digest(), saga.undoKey(step).digest());
		}

	}

}
