package dev.idempotent.saga.model;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One saga to be searched.
 *
 * @param steps its steps, up to three
 * @param faults how many faults may happen, up to seven
 * @param options what else may happen
 * @param defects the rules that are left out
 */
record Scenario(List<StepKind> steps, int faults, Set<Option> options, Set<Defect> defects) {

	static Scenario of(int faults, StepKind... steps) {
		return new Scenario(List.of(steps), faults, EnumSet.noneOf(Option.class), EnumSet.noneOf(Defect.class));
	}

	Scenario with(Option... more) {
		Set<Option> options = EnumSet.copyOf(List.of(more));
		options.addAll(this.options);
		return new Scenario(this.steps, this.faults, options, this.defects);
	}

	Scenario without(Defect... more) {
		return new Scenario(this.steps, this.faults, this.options, EnumSet.copyOf(List.of(more)));
	}

	StepKind kind(int step) {
		return this.steps.get(step);
	}

	boolean has(Option option) {
		return this.options.contains(option);
	}

	boolean has(Defect defect) {
		return this.defects.contains(defect);
	}

	/** Credentials of another process are another scope only where that is the defect. */
	int scope(int owner) {
		return has(Defect.SCOPE_CHANGES) ? owner : 0;
	}

	/**
	 * The verbs that a step is written with.
	 */
	enum StepKind {

		/**
		 * {@code runInTransaction} with {@code compensate}.
		 */
		TRANSACTION,

		/**
		 * {@code run} with {@code compensate}, which needs the result.
		 */
		COMPENSATE,

		/**
		 * {@code run} with {@code cancel}, which needs a participant with tombstones.
		 */
		CANCEL,

		/**
		 * {@code run} only: not undone.
		 */
		PLAIN,

		/**
		 * {@code await}: a wait for a signal.
		 */
		SIGNAL,

		/**
		 * {@code sleep}: a wait for some time.
		 */
		SLEEP;

		boolean isWait() {
			return this == SIGNAL || this == SLEEP;
		}

		boolean isRemote() {
			return this != TRANSACTION && !isWait();
		}

		boolean hasUndoCall() {
			return this == COMPENSATE || this == CANCEL;
		}

	}

	/**
	 * What may happen in a scenario beyond lost commits, late messages, pauses and
	 * deaths.
	 */
	enum Option {

		/**
		 * Participants and transactional steps may refuse; participants store that
		 * answer.
		 */
		STORED_REFUSALS,

		/**
		 * Participants may refuse with an answer that is not stored.
		 */
		UNSTORED_REFUSALS,

		/**
		 * The body catches a refusal and goes on.
		 */
		CATCHES_REFUSALS,

		/**
		 * The network or an HTTP client sends a message twice.
		 */
		RESENDS,

		/**
		 * Age limits pass and participants forget their records.
		 */
		AGE,

		/**
		 * Messages may arrive after the participant has forgotten their records.
		 */
		DELAYS_BEYOND_RETENTION,

		/**
		 * A participant may refuse an undo.
		 */
		REFUSED_UNDO,

		/**
		 * An operator retries or skips what is halted.
		 */
		OPERATOR,

		/**
		 * A second caller begins with the same key.
		 */
		SECOND_CALLER,

		/**
		 * The deadline may pass.
		 */
		DEADLINE,

		/**
		 * A body may reach another step first than the recorded one, because it is
		 * another version or names differ in each run.
		 */
		OTHER_BODY,

		/**
		 * Signals are sent, in transactions that may be rolled back: two values, three
		 * times in all.
		 */
		SIGNALS,

		/**
		 * The saga is cancelled.
		 */
		CANCELS,

		/**
		 * There is a signal that was sent to an earlier saga with the same id, and was
		 * committed after the end of that saga.
		 */
		SIGNAL_OF_EARLIER_SAGA,

		/**
		 * The same, but signals are sent again before the saga exists.
		 */
		SIGNAL_BETWEEN_SAGAS

	}

	/**
	 * A rule of the protocol that is left out, so that the search must find what it is
	 * for.
	 */
	enum Defect {

		NO_FENCE, NO_EPOCH_CHECK, NO_TOMBSTONE, UNKNOWN_TAKEN_FOR_NOT_DONE, COMPENSATED_BEFORE_UNDO, NO_KEYS,
		ACTION_AGE_IGNORED, UNDO_AGE_IGNORED, REFUSED_ACTION_AGE_IGNORED, CANCEL_REPEATED_BEYOND_ACTION_AGE,
		SCOPE_CHANGES, LEASE_ACTION, UNREPLAYED_REFUSAL_TAKEN_AS_DEFINITE, JOURNAL_READ_BEFORE_EPOCH,
		STALE_OWNER_READS_JOURNAL, UNDO_REGISTERED_AFTER_ACTION, UNDO_ROW_NOT_CHECKED, OUTCOME_FORGOTTEN,
		OWNER_PER_PROCESS, KEYS_REUSED_AFTER_SWEEP, EPOCHS_REUSED_AFTER_SWEEP, NO_TAKE_OVER, SKIPPED_BEFORE_AGE,
		OPERATOR_KEEPS_EPOCH, SKIPPED_STEP_GOES_FORWARD, DECIDED_IN_DOUBT, NO_RECEIPTS, UNREACHED_STEPS_NOT_UNDONE,
		STEP_BEGUN_BEFORE_RECORDED_ONES, SIGNAL_ROW_NOT_LOCKED, RELEASED_WITHOUT_LOOKING, EXPIRED_WITHOUT_LOOKING,
		EXPIRY_NOT_RECORDED, SIGNAL_ACCEPTED_AFTER_EXPIRY, SIGNAL_NOT_STORED, SIGNAL_DOES_NOT_WAKE,
		UNCOMMITTED_SIGNAL_READ, LAST_SIGNAL_COUNTS, SIGNAL_OF_EARLIER_SAGA_COUNTS, CANCEL_KEEPS_DEADLINE,
		CANCEL_COMPARES_CLOCKS, CANCEL_DOES_NOT_WAKE, CANCEL_UNDOES_COMPLETED

	}

}
