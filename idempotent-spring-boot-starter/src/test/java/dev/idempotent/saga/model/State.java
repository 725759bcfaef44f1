package dev.idempotent.saga.model;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One state of journal, owners, participants and network, in three words: one for the
 * steps, one for the owners and the saga's row, and one for waits and signals.
 */
@SuppressWarnings("EnumOrdinal")
final class State {

	static final int STEPS = 3;

	static final int OWNERS = 2;

	static final int SENDERS = 2;

	/** Fields of the saga's row, and of the search. */
	enum Row {

		STATUS(3), CAUSE(2), HALTED_IN(3), DEADLINE(1), FAULTS(3), COMPLETED(1), COMPENSATED(1), DISORDER(1);

		private final int bits;

		Row(int bits) {
			this.bits = bits;
		}

	}

	/**
	 * Fields of a step: its row, its effects, its participant's records, its messages.
	 */
	enum Step {

		JOURNAL(3), ACTION_OLD(1), UNDO_OLD(1), DONE(2), UNDONE(2), ACTION_RECORD(2), UNDO_RECORD(1),
		OTHER_ACTION_RECORD(2), OTHER_UNDO_RECORD(1), LATE_ACTIONS(2), LATE_UNDOS(2), LATE_CANCELS(2);

		private final int bits;

		Step(int bits) {
			this.bits = bits;
		}

	}

	/** Fields of an owner: where it is in the body, and what it knows. */
	enum Owner {

		AT(4), STEP(2), BACKWARD(1), CURRENT(1), FRESH(1), IN_DOUBT(1), FIRST_ATTEMPT(1), UNWRITTEN(2), CAUSE(2),
		VIEW_0(3), VIEW_1(3), VIEW_2(3);

		private final int bits;

		Owner(int bits) {
			this.bits = bits;
		}

	}

	/**
	 * Fields of a wait: the row of its signal, with its value and whether it is one of an
	 * earlier saga, and whether its time has passed. For the search, which signal was
	 * accepted and which outcome the body has got.
	 */
	enum Wait {

		ROW(3), VALUE(1), EARLIER(1), TIME(1), ACCEPTED(2), OUTCOME(2);

		private final int bits;

		Wait(int bits) {
			this.bits = bits;
		}

	}

	/**
	 * Fields of a sender, whose number is the value that it sends.
	 */
	enum Sender {

		AT(2), STEP(2), FOUND_SAGA(1), WAKES(1);

		private final int bits;

		Sender(int bits) {
			this.bits = bits;
		}

	}

	/**
	 * Fields of all waits: which one the saga waits for without an owner, counted from 1.
	 * For the search, what its cancelling caller and the senders were told.
	 */
	enum Waiting {

		FOR(2), SIGNALS(2), CANCELLED(1), FALSE_ANSWER(1);

		private final int bits;

		Waiting(int bits) {
			this.bits = bits;
		}

	}

	private static final Owner[] VIEWS = { Owner.VIEW_0, Owner.VIEW_1, Owner.VIEW_2 };

	private static final At[] AT = At.values();

	private static final Status[] STATUS = Status.values();

	private static final Cause[] CAUSE = Cause.values();

	private static final int[] IN_STEP = shifts(Stream.of(Step.values()).mapToInt((f) -> f.bits));

	private static final int[] IN_OWNER = shifts(Stream.of(Owner.values()).mapToInt((f) -> f.bits));

	private static final int[] IN_ROW = shifts(Stream.of(Row.values()).mapToInt((f) -> f.bits));

	private static final int[] IN_WAIT = shifts(Stream.of(Wait.values()).mapToInt((f) -> f.bits));

	private static final int[] IN_SENDER = shifts(Stream.of(Sender.values()).mapToInt((f) -> f.bits));

	private static final int[] IN_WAITS = shifts(Stream.of(Waiting.values()).mapToInt((f) -> f.bits));

	private static final int WAIT_BITS = IN_WAIT[IN_WAIT.length - 1];

	private static final int SENDERS_FROM = STEPS * WAIT_BITS;

	private static final int SENDER_BITS = IN_SENDER[IN_SENDER.length - 1];

	private static final int WAITS_FROM = SENDERS_FROM + SENDERS * SENDER_BITS;

	private static final int STEP_BITS = IN_STEP[IN_STEP.length - 1];

	private static final int OWNER_BITS = IN_OWNER[IN_OWNER.length - 1];

	private static final int ROW_FROM = OWNERS * OWNER_BITS;

	private static final long OWNER_MASK = (1L << OWNER_BITS) - 1;

	private long steps;

	private long rest;

	private long waits;

	State() {
		this(0, 0, 0);
	}

	State(long steps, long rest, long waits) {
		this.steps = steps;
		this.rest = rest;
		this.waits = waits;
	}

	long steps() {
		return this.steps;
	}

	long rest() {
		return this.rest;
	}

	long waits() {
		return this.waits;
	}

	State copy() {
		return new State(this.steps, this.rest, this.waits);
	}

	Status status() {
		return STATUS[get(Row.STATUS)];
	}

	Cause cause() {
		return CAUSE[get(Row.CAUSE)];
	}

	int get(Row field) {
		return read(this.rest, ROW_FROM + IN_ROW[field.ordinal()], field.bits);
	}

	boolean is(Row field, Enum<?> value) {
		return get(field) == value.ordinal();
	}

	State set(Row field, Enum<?> value) {
		return set(field, value.ordinal());
	}

	State set(Row field, int value) {
		this.rest = write(this.rest, ROW_FROM + IN_ROW[field.ordinal()], field.bits, value);
		return this;
	}

	Journal journal(int step) {
		return Journal.OF[get(Step.JOURNAL, step)];
	}

	int get(Step field, int step) {
		return read(this.steps, step * STEP_BITS + IN_STEP[field.ordinal()], field.bits);
	}

	boolean is(Step field, int step, Enum<?> value) {
		return get(field, step) == value.ordinal();
	}

	State set(Step field, int step, Enum<?> value) {
		return set(field, step, value.ordinal());
	}

	State set(Step field, int step, int value) {
		this.steps = write(this.steps, step * STEP_BITS + IN_STEP[field.ordinal()], field.bits, value);
		return this;
	}

	/** Counts up to three, which stands for more. */
	State add(Step field, int step) {
		return set(field, step, Math.min(3, get(field, step) + 1));
	}

	At at(int owner) {
		return AT[get(Owner.AT, owner)];
	}

	/** What an owner believes a step's row to be. */
	Journal view(int owner, int step) {
		return Journal.OF[get(VIEWS[step], owner)];
	}

	State view(int owner, int step, Journal value) {
		return set(VIEWS[step], owner, value);
	}

	int get(Owner field, int owner) {
		return read(this.rest, owner * OWNER_BITS + IN_OWNER[field.ordinal()], field.bits);
	}

	boolean is(Owner field, int owner, Enum<?> value) {
		return get(field, owner) == value.ordinal();
	}

	State set(Owner field, int owner, Enum<?> value) {
		return set(field, owner, value.ordinal());
	}

	State set(Owner field, int owner, int value) {
		this.rest = write(this.rest, owner * OWNER_BITS + IN_OWNER[field.ordinal()], field.bits, value);
		return this;
	}

	int get(Wait field, int step) {
		return read(this.waits, step * WAIT_BITS + IN_WAIT[field.ordinal()], field.bits);
	}

	boolean is(Wait field, int step, Enum<?> value) {
		return get(field, step) == value.ordinal();
	}

	State set(Wait field, int step, Enum<?> value) {
		return set(field, step, value.ordinal());
	}

	State set(Wait field, int step, int value) {
		this.waits = write(this.waits, step * WAIT_BITS + IN_WAIT[field.ordinal()], field.bits, value);
		return this;
	}

	int get(Sender field, int sender) {
		return read(this.waits, SENDERS_FROM + sender * SENDER_BITS + IN_SENDER[field.ordinal()], field.bits);
	}

	boolean is(Sender field, int sender, Enum<?> value) {
		return get(field, sender) == value.ordinal();
	}

	State set(Sender field, int sender, Enum<?> value) {
		return set(field, sender, value.ordinal());
	}

	State set(Sender field, int sender, int value) {
		this.waits = write(this.waits, SENDERS_FROM + sender * SENDER_BITS + IN_SENDER[field.ordinal()], field.bits,
				value);
		return this;
	}

	int get(Waiting field) {
		return read(this.waits, WAITS_FROM + IN_WAITS[field.ordinal()], field.bits);
	}

	State set(Waiting field, int value) {
		this.waits = write(this.waits, WAITS_FROM + IN_WAITS[field.ordinal()], field.bits, value);
		return this;
	}

	/** Ends a run: its owner knows nothing any more. */
	State clear(int owner) {
		return owner(owner, new State());
	}

	/** Takes one owner's fields from another state. */
	State owner(int owner, State from) {
		long mask = OWNER_MASK << (owner * OWNER_BITS);
		this.rest = (this.rest & ~mask) | (from.rest & mask);
		return this;
	}

	/** Returns this state, or that with the owners exchanged: they are alike. */
	State normalized() {
		long first = this.rest & OWNER_MASK;
		long second = this.rest >>> OWNER_BITS & OWNER_MASK;
		if (first >= second) {
			return this;
		}
		return new State(this.steps, ((this.rest >>> ROW_FROM) << ROW_FROM) | (first << OWNER_BITS) | second,
				this.waits);
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder(status().toString());
		for (int step = 0; step < STEPS; step++) {
			text.append(' ').append(journal(step)).append('=');
			text.append(get(Step.DONE, step)).append('-').append(get(Step.UNDONE, step));
			text.append(' ').append(Signal.OF[get(Wait.ROW, step)]);
		}
		if (get(Waiting.FOR) > 0) {
			text.append(" waits for ").append(get(Waiting.FOR) - 1);
		}
		return text.toString();
	}

	private static int read(long word, int shift, int bits) {
		return (int) (word >>> shift) & (1 << bits) - 1;
	}

	private static long write(long word, int shift, int bits, int value) {
		long mask = (1L << bits) - 1;
		if ((value & mask) != value) {
			throw new IllegalArgumentException("No room for " + value);
		}
		return (word & ~(mask << shift)) | ((long) value << shift);
	}

	private static int[] shifts(IntStream bits) {
		int[] shifts = IntStream.concat(IntStream.of(0), bits).toArray();
		Arrays.parallelPrefix(shifts, Integer::sum);
		return shifts;
	}

	/**
	 * The status of the saga's row; {@code ABSENT} before its insert.
	 */
	enum Status {

		ABSENT, EXECUTING, COMPENSATING, COMPLETED, COMPENSATED, HALTED

	}

	/**
	 * Why a saga is halted. {@code NONE} stands for a body that does not fit, too.
	 */
	enum Cause {

		NONE, AGE, ATTEMPTS, REFUSED_UNDO

	}

	/**
	 * The state of a step's row. A step that is being undone keeps what was known before:
	 * its cancel depends on it. A refusal proves nothing to a cancel: the action may have
	 * been sent twice.
	 */
	enum Journal {

		ABSENT, ACTING, DONE, REFUSED, UNDOING_UNKNOWN, UNDOING_DONE, UNDONE;

		static final Journal[] OF = values();

		boolean isUndoing() {
			return this == UNDOING_UNKNOWN || this == UNDOING_DONE;
		}

	}

	/**
	 * Where an owner is. A pause before a send is a late message, a death before it a
	 * message that never arrives.
	 */
	enum At {

		/** Not running. */
		IDLE,

		/** Has raised the epoch, or has lost a reply: reads the journal next. */
		READ,

		/** Has read the journal before it raised the epoch (a defect). */
		PEEKED,

		/** Before a step of the body, or at its end. */
		RUN,

		/** Waits for the reply to an action. */
		CALLED,

		/** Ending a wait: has locked the row of its signal, which has not arrived. */
		LOOKED,

		/** The same, and it has. */
		FOUND,

		/** Has to write that the saga is compensated from now on. */
		DECIDE,

		/** Compensating: before the undo of a step, or at the end. */
		BACK,

		/** Waits for the reply to an undo. */
		UNDO_CALLED,

		/** Has to write that the saga is halted. */
		HALT

	}

	/**
	 * The state of the row of a signal; {@code NONE} before its insert, too.
	 */
	enum Signal {

		NONE, AWAITED, RECEIVED, READ, EXPIRED;

		static final Signal[] OF = values();

	}

	/**
	 * Where a sender is.
	 */
	enum Sending {

		/** Not sending. */
		IDLE,

		/** Has read the row of the saga. */
		READ,

		/** Has locked the row of the signal, and has changed both rows. */
		HOLDS;

		static final Sending[] OF = values();

	}

	/**
	 * What the body has got from a wait.
	 */
	enum Outcome {

		NONE, RECEIVED, EXPIRED, DIFFERENT

	}

	/**
	 * Takes the states that follow one state.
	 */
	interface Successors {

		/** For events without an owner or step. */
		int NONE = -1;

		void add(Event event, int owner, int step, State next);

	}

}
