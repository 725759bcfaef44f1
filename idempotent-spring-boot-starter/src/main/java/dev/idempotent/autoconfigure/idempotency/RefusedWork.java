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
 * exceptions are written for developers. What the tool has done beside it is not known.
 */
final class RefusedWork {

	/**
	 * Causes may be a cycle.
	 */
	private static final int MAX_CAUSES = 20;

	private RefusedWork() {
	}

	/**
	 * Returns why work was refused, also if its exception was wrapped by one without a
	 * text.
	 * @param failure what the work has thrown
	 * @return the reason, or {@code null} for any other failure
	 */
	static @Nullable Reason reasonOf(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, RefusedWork::wrappedBy)
			.limit(MAX_CAUSES)
			.map(RefusedWork::ownReasonOf)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/**
	 * An exception with a text of its own is what the application wants to tell.
	 */
	private static @Nullable Throwable wrappedBy(Throwable failure) {
		Throwable cause = failure.getCause();
		String text = failure.getMessage();
		return (cause != null && (text == null || text.equals(cause.toString()))) ? cause : null;
	}

	private static @Nullable Reason ownReasonOf(Throwable failure) {
		if (failure instanceof ToolCallRefusedException refused) {
			return ofPart(refused.getRefusal().reason());
		}
		if (failure instanceof IdempotencyPendingException) {
			return Reason.IN_PROGRESS;
		}
		if (failure instanceof IdempotencyMismatchException) {
			return Reason.OTHER_ARGUMENTS;
		}
		if (failure instanceof IdempotencyStoreUnavailableException
				|| failure instanceof IdempotencyClaimLostException) {
			return Reason.OUTCOME_UNKNOWN;
		}
		if (failure instanceof SagaCompensatedException) {
			return Reason.UNDONE;
		}
		// A result may be missing because it was not kept, or rolled back with its work.
		return (failure instanceof SagaHaltedException || failure instanceof IdempotencyResultException
				|| failure instanceof UnreadableResponseException || failure instanceof IdempotencyStoreException)
						? Reason.OPERATOR_NEEDED : null;
	}

	/**
	 * Returns the reason of a call of which a part was refused.
	 */
	private static Reason ofPart(Reason reason) {
		return switch (reason) {
			case IN_PROGRESS, OTHER_ARGUMENTS, OUTCOME_UNKNOWN, UNDONE, OPERATOR_NEEDED -> reason;
			case STORE_UNAVAILABLE -> Reason.OUTCOME_UNKNOWN;
			case RESULT_NOT_KEPT, CALLER_UNKNOWN, KEY_INVALID -> Reason.OPERATOR_NEEDED;
		};
	}

}
