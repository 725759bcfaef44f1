package dev.idempotent.transaction;

/**
 * Work of this library in a transaction. Called on the thread of the transaction.
 */
public interface TransactionParticipant {

	/**
	 * Called at each savepoint of the transaction.
	 * @return restores what there is now, if the transaction is rolled back to this
	 * savepoint
	 */
	default Runnable savepoint() {
		return this::undone;
	}

	/**
	 * The transaction was rolled back to a savepoint that is older than this participant.
	 */
	default void undone() {
	}

	/**
	 * The transaction is about to be committed or rolled back. Called before other
	 * callbacks of this phase.
	 */
	default void completing() {
	}

	/**
	 * Returns whether what was written is still part of the transaction. Called as the
	 * last callback before the commit; if it is not, the commit is prevented.
	 * @return {@code false} also if that is not known
	 */
	default boolean confirm() {
		return true;
	}

	/**
	 * The commit was reported. Called before other callbacks of this phase, and not at
	 * all if one of them has failed before: {@link #ended} is called in any case.
	 */
	default void committed() {
	}

	/**
	 * The transaction has ended.
	 * @param end how
	 */
	default void ended(End end) {
	}

}
