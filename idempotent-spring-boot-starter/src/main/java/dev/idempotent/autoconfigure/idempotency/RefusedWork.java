package dev.idempotent.autoconfigure.idempotency;

import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.engine.UnreadableResponseException;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import org.jspecify.annotations.Nullable;

/**
 * Work of a tool that was refused because it calls a method or a saga that was: their
 * exceptions are written for developers.
 */
final class RefusedWork {

	/**
	 * Causes may be a cycle.
	 */
	private static final int MAX_CAUSES = 20;

	private RefusedWork() {
	}

	/**
	 * Returns why work was refused, also if the tool has wrapped the exception: Spring AI
	 * adds the message of the cause.
	 * @param failure what the work has thrown
	 * @return the reason, or {@code null} for any other failure
	 */
	static @Nullable Reason reasonOf(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.limit(MAX_CAUSES)
			.map(RefusedWork::ownReasonOf)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private static @Nullable Reason ownReasonOf(Throwable failure) {
		if (failure instanceof ToolCallRefusedException refused) {
			return refused.getRefusal().reason();
		}
		if (failure instanceof IdempotencyPendingException) {
			return Reason.IN_PROGRESS;
		}
		if (failure instanceof IdempotencyMismatchException) {
			return Reason.OTHER_ARGUMENTS;
		}
		if (failure instanceof IdempotencyResultException || failure instanceof UnreadableResponseException) {
			return Reason.RESULT_NOT_KEPT;
		}
		if (failure instanceof IdempotencyStoreUnavailableException
				|| failure instanceof IdempotencyClaimLostException) {
			return Reason.OUTCOME_UNKNOWN;
		}
		if (failure instanceof SagaCompensatedException) {
			return Reason.UNDONE;
		}
		return (failure instanceof SagaHaltedException || failure instanceof IdempotencyStoreException)
				? Reason.OPERATOR_NEEDED : null;
	}

}
