package dev.idempotent.autoconfigure.operations;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.run.SagaAdministration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.dao.DataAccessException;

/**
 * Retries halted sagas and skips steps of them, or explains why that is not possible.
 */
final class SagaOperator {

	private final SagaAdministration sagas;

	private final Function<IdempotencyKey, @Nullable SagaSnapshot> find;

	private final SagaAudit audit;

	/**
	 * Creates the operator.
	 * @param find finds a saga with its steps
	 */
	SagaOperator(SagaAdministration sagas, Function<IdempotencyKey, @Nullable SagaSnapshot> find, SagaAudit audit) {
		this.sagas = sagas;
		this.find = find;
		this.audit = audit;
	}

	/**
	 * Finds a saga.
	 * @throws RefusedOperationException if there is none
	 */
	SagaSnapshot require(IdempotencyKey id) {
		SagaSnapshot saga = this.find.apply(id);
		if (saga == null) {
			throw RefusedOperationException.absent("There is no saga with this id",
					"List sagas with GET /actuator/saga/list. A saga is absent before its first step is recorded and "
							+ "after its retention (idempotent.saga.retention)");
		}
		return saga;
	}

	/**
	 * Continues a halted saga.
	 */
	SagaSnapshot retry(IdempotencyKey id, SecurityContext security) {
		SagaSnapshot saga = requireHalted(require(id));
		apply(() -> this.sagas.retry(id), (outcome) -> this.audit.retried(saga, outcome, security),
				() -> requireHalted(require(id)));
		return require(id);
	}

	/**
	 * Records that a step of a halted saga was undone by hand.
	 */
	SagaSnapshot skip(IdempotencyKey id, String step, String note, SecurityContext security) {
		SagaSnapshot saga = requireHalted(require(id));
		requireNotUndone(saga, step);
		apply(() -> this.sagas.skip(id, step, note),
				(outcome) -> this.audit.skipped(saga, step, note, outcome, security),
				() -> requireNotUndone(requireHalted(require(id)), step));
		return require(id);
	}

	/**
	 * Applies a change, which has no effect if the saga has changed since it was read, or
	 * does not allow it.
	 * @param check throws if the saga has changed
	 */
	private static void apply(BooleanSupplier change, Consumer<String> audit, Runnable check) {
		boolean changed;
		try {
			changed = change.getAsBoolean();
		}
		catch (DataAccessException ex) {
			audit.accept(OperatorAudit.UNKNOWN);
			throw ex;
		}
		if (!changed) {
			check.run();
			throw RefusedOperationException.conflict(
					"The saga was halted before it was undone, so it may still complete",
					"Retry the saga. When its deadline has passed, it is undone then");
		}
		audit.accept("DONE");
	}

	private static SagaSnapshot requireHalted(SagaSnapshot saga) {
		if (saga.status() != SagaStatus.HALTED) {
			throw RefusedOperationException.conflict("The saga is not halted: it is " + saga.status(),
					saga.status().isOpen() ? "Wait: it continues by itself"
							: "Nothing can be done: the saga has ended");
		}
		return saga;
	}

	private static void requireNotUndone(SagaSnapshot saga, String step) {
		SagaSnapshot.Step recorded = saga.steps()
			.stream()
			.filter((each) -> each.name().equals(step))
			.findFirst()
			.orElseThrow(() -> RefusedOperationException.absent("The saga has recorded no step of this name",
					"Take the name from GET /actuator/saga/{id}"));
		if (recorded.state() == StepState.COMPENSATED) {
			throw RefusedOperationException.conflict("The step is already undone",
					"Retry the saga, or skip another step");
		}
	}

}
