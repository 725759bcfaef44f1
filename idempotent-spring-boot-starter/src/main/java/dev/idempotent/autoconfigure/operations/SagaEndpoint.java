package dev.idempotent.autoconfigure.operations;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import dev.idempotent.saga.engine.SagaAdministration.OperatedSaga;
import dev.idempotent.saga.engine.SagaAdministration.OperatedStep;
import dev.idempotent.saga.engine.SagaAdministration.Page;
import dev.idempotent.saga.engine.SagaStore;
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
 * The actuator's endpoint {@code saga}: shows sagas without arguments and results,
 * retries halted ones and skips steps of them, or explains why that is not possible.
 */
@WebEndpoint(id = "saga")
@RegisterReflectionForBinding({ SagaEndpoint.Overview.class, SagaEndpoint.Answer.class })
final class SagaEndpoint extends OperatorEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(SagaEndpoint.class);

	private final SagaAdministration sagas;

	private final Supplier<Counts> counts;

	private final Supplier<Instance> instance;

	private final ApplicationEventPublisher publisher;

	/**
	 * Creates the endpoint.
	 * @param counts counts the sagas in the database
	 * @param instance supplies the state of this instance
	 */
	SagaEndpoint(SagaAdministration sagas, Supplier<Counts> counts, Supplier<Instance> instance,
			ApplicationEventPublisher publisher) {
		this.sagas = sagas;
		this.counts = counts;
		this.instance = instance;
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
			@Nullable String note, SecurityContext security) {
		return answer(() -> {
			requireInPath(id, operation);
			IdempotencyKey saga = id(id);
			switch (operation) {
				case "retry" -> {
					requireNoStep(step);
					apply(saga, null, note(note), security);
				}
				case "skip" -> apply(saga, requireStep(step), requireNote(note), security);
				default -> throw invalid("There is no operation of this name",
						"POST /actuator/saga/{id}/retry or POST /actuator/saga/{id}/skip");
			}
			return Answer.of(require(saga));
		});
	}

	private Map<String, @Nullable Object> list(@Nullable String status, @Nullable String name, @Nullable String after,
			@Nullable String limit) {
		Page page = page(status(status), stated("name", name), after, limit(limit));
		Map<String, @Nullable Object> answer = new LinkedHashMap<>();
		answer.put("sagas", page.sagas().stream().map(Facts::of).toList());
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

	/**
	 * Retries a halted saga, or records that one of its steps was undone by hand. Neither
	 * has an effect if the saga has changed since it was read.
	 * @param step the step to skip, or {@code null} to retry the saga
	 */
	private void apply(IdempotencyKey id, @Nullable String step, @Nullable String note, SecurityContext security) {
		OperatedSaga saga = requireChangeable(id, step, note);
		boolean changed;
		try {
			changed = (step != null) ? this.sagas.skip(id, step, Objects.requireNonNull(note)) : this.sagas.retry(id);
		}
		catch (DataAccessException ex) {
			publish(saga, step, note, UNKNOWN, security);
			throw ex;
		}
		if (!changed) {
			requireChangeable(id, step, note);
			throw conflict("The saga has changed in the meantime",
					"Look at it again, and repeat the request if it is still needed");
		}
		publish(saga, step, note, "DONE", security);
	}

	/**
	 * Publishes an audit event, and logs the change without the operator's note.
	 */
	private void publish(OperatedSaga saga, @Nullable String step, @Nullable String note, String outcome,
			SecurityContext security) {
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("id", saga.id().digest());
		data.put("saga", saga.name());
		if (step != null) {
			logger.info("An operator has requested to skip the step {} of the saga {} ({}): {}", step, saga.id(),
					saga.name(), outcome);
			data.put("step", step);
		}
		else {
			logger.info("An operator has requested to retry the saga {} ({}): {}", saga.id(), saga.name(), outcome);
		}
		if (note != null) {
			data.put("note", note);
		}
		data.put("outcome", outcome);
		audit(this.publisher, security, (step != null) ? "SAGA_STEP_SKIPPED" : "SAGA_RETRIED", data);
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

	private OperatedSaga requireChangeable(IdempotencyKey id, @Nullable String step, @Nullable String note) {
		OperatedSaga saga = require(id);
		if (saga.status() != SagaStatus.HALTED) {
			throw conflict("The saga is not halted: it is " + saga.status(), saga.status().isOpen()
					? "Wait: it continues by itself" : "Nothing can be done: the saga has ended");
		}
		if (step != null) {
			requireNotUndone(saga, step, note);
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
					"Retry the saga. When its deadline has passed, it is undone then");
		}
		if (recorded.state().equals(StepState.COMPENSATED.name())) {
			throw conflict("The step is already undone", "Retry the saga, or skip another step");
		}
		if (recorded.state().equals(StepState.SKIPPED.name())
				&& !Objects.equals(recorded.note(), SagaStore.text(note))) {
			throw conflict("The step is already skipped, with another note",
					"Find out from the note and the audit log who has undone it. Retry the saga, or skip another step");
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

	private static String requireNote(@Nullable String note) {
		String stated = note(note);
		if (stated == null) {
			throw invalid("The request has no 'note'",
					"Set 'note' to how the step was undone by hand, without personal data");
		}
		return stated;
	}

	/**
	 * Refuses what would have no effect.
	 */
	private static void requireNoStep(@Nullable String step) {
		if (step != null) {
			throw invalid("A retry concerns the whole saga and takes no 'step'",
					"Omit it, or skip the step with POST /actuator/saga/{id}/skip");
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
	 * @param unserved how many are open and have a name that this instance has no method
	 * for
	 * @param oldestDueAge how long the oldest due saga has waited for an instance, in
	 * ISO-8601 format
	 */
	record Numbers(Map<SagaStatus, Integer> byStatus, boolean exact, int unserved, String oldestDueAge) {

		static Numbers of(Counts counts) {
			Map<SagaStatus, Integer> all = new TreeMap<>();
			List.of(SagaStatus.STARTED, SagaStatus.EXECUTING, SagaStatus.COMPENSATING, SagaStatus.HALTED)
				.forEach((status) -> all.put(status, counts.byStatus().getOrDefault(status, 0)));
			return new Numbers(all, counts.exact(), counts.unserved(), counts.oldestDue().toString());
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
	 * @param steps the recorded steps, in the order in which they began
	 * @param meaning what the status means
	 */
	record Answer(Facts saga, @Nullable String haltedStep, List<Step> steps, String meaning) {

		static Answer of(OperatedSaga saga) {
			return new Answer(Facts.of(saga), saga.haltedStep(),
					saga.steps().stream().map((step) -> Step.of(saga, step)).toList(), meaning(saga));
		}

		private static String meaning(OperatedSaga saga) {
			return switch (saga.status()) {
				case STARTED -> "An instance that has a method of this name runs it";
				case EXECUTING -> "Its steps are run. If they fail, or the deadline passes, it is undone";
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
							: ": it goes on with its steps, or is undone if its deadline has passed");
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
	 */
	record Facts(String id, String name, SagaStatus status, @Nullable String reason, @Nullable String undoReason,
			int attempts, String createdAt, String deadline, @Nullable String owner, @Nullable String dueIn,
			@Nullable SagaStatus haltedIn, @Nullable String haltedAt) {

		/**
		 * A saga that is started in the background has no owner yet, only the process
		 * that has stored it.
		 */
		static Facts of(OperatedSaga saga) {
			return new Facts(saga.id().digest(), saga.name(), saga.status(),
					(saga.haltReason() != null) ? saga.haltReason() : saga.reason(), saga.reason(), saga.attempts(),
					saga.createdAt().toString(), saga.deadline().toString(),
					(saga.status() != SagaStatus.STARTED) ? saga.process() : null, text(saga.dueIn()), saga.haltedIn(),
					text(saga.haltedAt()));
		}

	}

	/**
	 * A recorded step. Times are in ISO-8601 format, by the clock of the database.
	 *
	 * @param kind how it runs and is undone
	 * @param reason why it was refused, or {@code null}
	 * @param note the note of the operator who skipped it, or {@code null}
	 * @param refusedUndos how often its undo was refused
	 * @param begunAt when it began
	 * @param compensatingAt when its undo began, or {@code null}
	 * @param endedAt when its action or its undo ended, or {@code null}
	 * @param actionKey the key of its action, which its calls carry or are derived from
	 * @param undoKey the same for its undo
	 */
	record Step(String name, String kind, String state, @Nullable String reason, @Nullable String note,
			int refusedUndos, String begunAt, @Nullable String compensatingAt, @Nullable String endedAt,
			String actionKey, String undoKey) {

		static Step of(OperatedSaga saga, OperatedStep step) {
			return new Step(step.name(), step.kind(), step.state(), step.reason(), step.note(), step.refusedUndos(),
					step.begunAt().toString(), text(step.compensatingAt()), text(step.endedAt()),
					saga.actionKey(step).digest(), saga.undoKey(step).digest());
		}

	}

}
