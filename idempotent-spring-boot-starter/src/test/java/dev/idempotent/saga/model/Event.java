package dev.idempotent.saga.model;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * What takes one state to the next.
 */
enum Event {

	FENCED, REREAD, READS_JOURNAL, RAISES_EPOCH, TAKES_OVER, BODY_THROWS, COMPLETES, COMMITS_TRANSACTION,
	TRANSACTION_REFUSED, WRITES_ACTING, CALLS_AGAIN, ACTION_ANSWERED, TOO_OLD, DECIDES_TO_COMPENSATE, COMMITS_UNDO,
	BEGINS_WAIT, LOOKS_FOR_SIGNAL, RELEASED_UNTIL_DUE, RECEIVES_SIGNAL, WAIT_EXPIRES, SIGNAL_WRITTEN, SIGNAL_KNOWN,
	SIGNAL_COMMITTED, WRITES_COMPENSATING, CALLS_UNDO_AGAIN, UNDO_ANSWERED, ENDS_COMPENSATED, HALTS,
	LATE_ACTION_ARRIVES, LATE_UNDO_ARRIVES, DOES_NOT_FIT(Kind.FAULT), BODY_ENDS_EARLY(Kind.FAULT),
	COMMIT_REPLY_LOST(Kind.FAULT), TIMES_OUT(Kind.FAULT), ANSWERED_BY_GATEWAY(Kind.FAULT), SENT_TWICE(Kind.FAULT),
	DIES(Kind.FAULT), TAKES_OVER_FROM_PAUSED(Kind.FAULT), SECOND_CALLER_BEGINS(Kind.FAULT),
	OPERATOR_RETRIES(Kind.FAULT), OPERATOR_SKIPS(Kind.FAULT), END_OF_WAIT_REPLY_LOST(Kind.FAULT),
	SIGNAL_SENT(Kind.FAULT), SIGNAL_SENT_TOO_LATE(Kind.FAULT), SIGNAL_ROLLED_BACK(Kind.FAULT), CANCELS(Kind.FAULT),
	TIME_OF_WAIT_PASSES(Kind.TIME), SWEPT(Kind.FAULT), DEADLINE_PASSES(Kind.CLOCK), ACTION_TOO_OLD(Kind.CLOCK),
	UNDO_TOO_OLD(Kind.CLOCK), ACTION_RECORD_EXPIRES(Kind.CLOCK), UNDO_RECORD_EXPIRES(Kind.CLOCK);

	/** Events that only a defect allows. */
	static final Set<Event> OF_DEFECTS = Collections.unmodifiableSet(EnumSet.of(RAISES_EPOCH, BODY_ENDS_EARLY, SWEPT));

	/**
	 * Faults are limited in number, and so are signals and cancellations; progress may
	 * rely on none of them, and of the clock only on the time of a wait.
	 */
	enum Kind {

		PROTOCOL, FAULT, CLOCK, TIME;

		boolean isReliable() {
			return this == PROTOCOL || this == TIME;
		}

	}

	private final Kind kind;

	Event() {
		this(Kind.PROTOCOL);
	}

	Event(Kind kind) {
		this.kind = kind;
	}

	Kind kind() {
		return this.kind;
	}

}
