package dev.idempotent.saga.run;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyKey.Kind;

/**
 * The keys under which the action of a step and its undo are called. They are the same in
 * every attempt; only an undo that was refused is called under another key if an operator
 * retries it.
 *
 * @param action the key of the action
 * @param undo the key of the undo
 */
record StepKeys(IdempotencyKey action, IdempotencyKey undo) {

	StepKeys(SagaOwner saga, JournalEntry entry) {
		this(of(saga, entry.name(), "do"),
				of(saga, entry.name(), (entry.refusedUndos() > 0) ? "undo " + entry.refusedUndos() : "undo"));
	}

	/**
	 * Creates the context in which the action is called.
	 * @param single whether it makes one call, under the key itself
	 */
	IdempotencyContext actionContext(String token, boolean single) {
		return single ? IdempotencyContext.forSingleCall(this.action, token, null)
				: new IdempotencyContext(this.action, token);
	}

	/**
	 * Creates the context in which an action runs whose saga is stored by the same
	 * transaction: after a rollback, the saga would begin again with other keys.
	 */
	IdempotencyContext unstoredContext(String token, String step) {
		return IdempotencyContext.refusingCalls(this.action, token, "The step '" + step + "' calls a service in the "
				+ "transaction that stores its saga, so a repetition would have another key. Nothing was sent. Call it "
				+ "in a step of its own: run");
	}

	/**
	 * Creates the context in which the undo is called.
	 */
	IdempotencyContext undoContext(String token) {
		return new IdempotencyContext(this.undo, token);
	}

	/**
	 * Creates the context in which the cancellation is called.
	 * @param done whether the action is known to be done
	 */
	IdempotencyContext cancelContext(String token, boolean done) {
		return IdempotencyContext.forSingleCall(this.undo, token,
				this.action.digest() + "; outcome=" + (done ? "done" : "unknown"));
	}

	private static IdempotencyKey of(SagaOwner saga, String step, String part) {
		return IdempotencyKey.of(Kind.SAGA, saga.id().digest(), part, step, Long.toHexString(saga.incarnation()));
	}

}
