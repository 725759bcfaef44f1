package dev.idempotent.saga.model;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.Option;
import dev.idempotent.saga.model.Scenario.StepKind;
import dev.idempotent.saga.model.Search.Result;
import dev.idempotent.saga.model.State.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static dev.idempotent.saga.model.Invariant.ACCEPTED_OR_EXPIRED;
import static dev.idempotent.saga.model.Invariant.AT_MOST_ONCE;
import static dev.idempotent.saga.model.Invariant.CANCELLED_IS_NOT_COMPLETED;
import static dev.idempotent.saga.model.Invariant.COMPENSATED_IS_NET_ZERO;
import static dev.idempotent.saga.model.Invariant.COMPLETED_IS_ONCE;
import static dev.idempotent.saga.model.Invariant.HALTED_WITH_CAUSE;
import static dev.idempotent.saga.model.Invariant.NO_WAIT_IN_VAIN;
import static dev.idempotent.saga.model.Invariant.ONE_ANSWER;
import static dev.idempotent.saga.model.Invariant.ONE_OUTCOME;
import static dev.idempotent.saga.model.Invariant.ONE_SIGNAL;
import static dev.idempotent.saga.model.Invariant.PROGRESS;
import static dev.idempotent.saga.model.Invariant.REVERSE_ORDER;
import static dev.idempotent.saga.model.Scenario.Option.AGE;
import static dev.idempotent.saga.model.Scenario.Option.CANCELS;
import static dev.idempotent.saga.model.Scenario.Option.CATCHES_REFUSALS;
import static dev.idempotent.saga.model.Scenario.Option.DEADLINE;
import static dev.idempotent.saga.model.Scenario.Option.DELAYS_BEYOND_RETENTION;
import static dev.idempotent.saga.model.Scenario.Option.OPERATOR;
import static dev.idempotent.saga.model.Scenario.Option.OTHER_BODY;
import static dev.idempotent.saga.model.Scenario.Option.REFUSED_UNDO;
import static dev.idempotent.saga.model.Scenario.Option.RESENDS;
import static dev.idempotent.saga.model.Scenario.Option.SECOND_CALLER;
import static dev.idempotent.saga.model.Scenario.Option.SIGNALS;
import static dev.idempotent.saga.model.Scenario.Option.SIGNAL_BETWEEN_SAGAS;
import static dev.idempotent.saga.model.Scenario.Option.SIGNAL_OF_EARLIER_SAGA;
import static dev.idempotent.saga.model.Scenario.Option.STORED_REFUSALS;
import static dev.idempotent.saga.model.Scenario.Option.UNSTORED_REFUSALS;
import static dev.idempotent.saga.model.Scenario.StepKind.CANCEL;
import static dev.idempotent.saga.model.Scenario.StepKind.COMPENSATE;
import static dev.idempotent.saga.model.Scenario.StepKind.PLAIN;
import static dev.idempotent.saga.model.Scenario.StepKind.SIGNAL;
import static dev.idempotent.saga.model.Scenario.StepKind.SLEEP;
import static dev.idempotent.saga.model.Scenario.StepKind.TRANSACTION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Searches all states of the saga protocol for one that breaks a promise.
 */
class SagaModelTests {

	private static final int MORE_FAULTS = Integer.getInteger("saga.more-faults", 0);

	private static final int FEWEST_STATES = 10_000;

	@ParameterizedTest(name = "{0}")
	@MethodSource("protocols")
	void keepsItsPromises(Scenario scenario, TestReporter reporter) {
		Result result = Search.run(scenario, EnumSet.allOf(Invariant.class));
		reporter.publishEntry(scenario.toString(), result.states() + " states");
		assertThat(result.broken()).as("%s after %,d states%n%s", scenario, result.states(), result.trace()).isNull();
		assertThat(result.states()).isGreaterThan(FEWEST_STATES);
		assertThat(result.statuses()).contains(Status.COMPLETED, Status.COMPENSATED);
	}

	static Stream<Scenario> protocols() {
		Option[] most = { STORED_REFUSALS, UNSTORED_REFUSALS, AGE, REFUSED_UNDO, OPERATOR, SECOND_CALLER, DEADLINE };
		return Stream.of(of(4, TRANSACTION, CANCEL, COMPENSATE).with(DEADLINE),
				of(4, CANCEL, COMPENSATE, TRANSACTION).with(STORED_REFUSALS),
				of(4, COMPENSATE, TRANSACTION, CANCEL).with(STORED_REFUSALS, OPERATOR),
				of(5, TRANSACTION, TRANSACTION, TRANSACTION).with(DEADLINE, SECOND_CALLER, STORED_REFUSALS),
				of(3, PLAIN, CANCEL, PLAIN).with(DEADLINE, UNSTORED_REFUSALS), of(2, PLAIN, CANCEL).with(AGE, OPERATOR),
				of(2, CANCEL, COMPENSATE).with(UNSTORED_REFUSALS, AGE, DEADLINE),
				of(2, COMPENSATE, CANCEL).with(STORED_REFUSALS, AGE, DEADLINE),
				of(4, COMPENSATE, CANCEL).with(STORED_REFUSALS, CATCHES_REFUSALS, RESENDS),
				of(4, CANCEL, TRANSACTION).with(UNSTORED_REFUSALS, RESENDS, AGE),
				of(4, COMPENSATE, TRANSACTION).with(UNSTORED_REFUSALS, CATCHES_REFUSALS, AGE),
				of(3, CANCEL, TRANSACTION).with(REFUSED_UNDO, OPERATOR, AGE), of(4, COMPENSATE).with(most),
				of(3, CANCEL).with(most).with(RESENDS),
				of(4, COMPENSATE, TRANSACTION).with(OTHER_BODY, OPERATOR, STORED_REFUSALS),
				of(3, CANCEL, PLAIN).with(OTHER_BODY, DEADLINE, AGE), of(2, TRANSACTION, SIGNAL).with(SIGNALS, CANCELS),
				of(1, CANCEL, SIGNAL, COMPENSATE).with(SIGNALS, CANCELS),
				of(2, SIGNAL, SLEEP).with(SIGNALS, CATCHES_REFUSALS, DEADLINE, SECOND_CALLER),
				of(2, TRANSACTION, SIGNAL).with(SIGNALS, SIGNAL_OF_EARLIER_SAGA, CATCHES_REFUSALS),
				of(3, SLEEP, CANCEL).with(CANCELS, OPERATOR, AGE),
				of(1, SIGNAL, COMPENSATE).with(SIGNALS, CANCELS, OPERATOR, UNSTORED_REFUSALS));
	}

	private static Scenario of(int faults, StepKind... steps) {
		return Scenario.of(faults + MORE_FAULTS, steps);
	}

	@Test
	void meetEveryEvent() {
		Set<Event> events = EnumSet.copyOf(Event.OF_DEFECTS);
		Stream
			.of(Scenario.of(3, COMPENSATE).with(Option.values()), Scenario.of(3, TRANSACTION).with(Option.values()),
					Scenario.of(2, SIGNAL).with(SIGNALS, CANCELS))
			.forEach((scenario) -> events.addAll(Search.run(scenario, EnumSet.of(REVERSE_ORDER)).events()));
		assertThat(events).containsExactlyInAnyOrder(Event.values());
	}

	@ParameterizedTest(name = "{0}: {1}")
	@MethodSource("defects")
	void breaksAPromiseWithoutTheRule(Defect defect, Invariant broken, Scenario scenario) {
		Result result = Search.run(scenario.without(defect), EnumSet.of(broken));
		assertThat(result.broken()).as("%s: %,d states", defect, result.states()).isEqualTo(broken);
	}

	static Stream<Arguments> defects() {
		return Stream
			.of(defectsOfOwners(), defectsOfParticipants(), defectsOfOutcomes(), defectsOfAge(), defectsOfOperators(),
					defectsOfWaits(), defectsOfSenders(), defectsOfCancellation())
			.flatMap((defects) -> defects);
	}

	private static Stream<Arguments> defectsOfOwners() {
		Scenario two = Scenario.of(2, TRANSACTION, CANCEL);
		Scenario refusing = Scenario.of(1, COMPENSATE).with(UNSTORED_REFUSALS);
		return Stream.of(arguments(Defect.NO_FENCE, ONE_ANSWER, two),
				arguments(Defect.NO_FENCE, COMPLETED_IS_ONCE, two),
				arguments(Defect.NO_EPOCH_CHECK, REVERSE_ORDER, two),
				arguments(Defect.NO_EPOCH_CHECK, COMPENSATED_IS_NET_ZERO, two),
				arguments(Defect.JOURNAL_READ_BEFORE_EPOCH, COMPENSATED_IS_NET_ZERO, Scenario.of(1, TRANSACTION)),
				arguments(Defect.STALE_OWNER_READS_JOURNAL, COMPENSATED_IS_NET_ZERO, refusing),
				arguments(Defect.OWNER_PER_PROCESS, COMPENSATED_IS_NET_ZERO, refusing.with(SECOND_CALLER)),
				arguments(Defect.EPOCHS_REUSED_AFTER_SWEEP, COMPENSATED_IS_NET_ZERO, Scenario.of(3, TRANSACTION)),
				arguments(Defect.DECIDED_IN_DOUBT, COMPENSATED_IS_NET_ZERO, Scenario.of(2, TRANSACTION)),
				arguments(Defect.UNDO_ROW_NOT_CHECKED, AT_MOST_ONCE, Scenario.of(1, TRANSACTION)),
				arguments(Defect.NO_TAKE_OVER, PROGRESS, Scenario.of(1, CANCEL)));
	}

	private static Stream<Arguments> defectsOfParticipants() {
		Scenario plain = Scenario.of(1, PLAIN);
		Scenario cancel = Scenario.of(1, CANCEL);
		return Stream.of(arguments(Defect.NO_KEYS, COMPLETED_IS_ONCE, plain),
				arguments(Defect.NO_KEYS, AT_MOST_ONCE, Scenario.of(1, COMPENSATE)),
				arguments(Defect.LEASE_ACTION, COMPLETED_IS_ONCE, plain),
				arguments(Defect.LEASE_ACTION, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.SCOPE_CHANGES, COMPLETED_IS_ONCE, plain),
				arguments(Defect.SCOPE_CHANGES, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.NO_TOMBSTONE, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.KEYS_REUSED_AFTER_SWEEP, COMPLETED_IS_ONCE, Scenario.of(1, COMPENSATE)));
	}

	private static Stream<Arguments> defectsOfOutcomes() {
		Scenario compensate = Scenario.of(1, COMPENSATE);
		Scenario cancel = Scenario.of(1, CANCEL);
		return Stream.of(arguments(Defect.UNKNOWN_TAKEN_FOR_NOT_DONE, COMPENSATED_IS_NET_ZERO, compensate),
				arguments(Defect.UNKNOWN_TAKEN_FOR_NOT_DONE, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.COMPENSATED_BEFORE_UNDO, COMPENSATED_IS_NET_ZERO, compensate),
				arguments(Defect.COMPENSATED_BEFORE_UNDO, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.UNDO_REGISTERED_AFTER_ACTION, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.UNREACHED_STEPS_NOT_UNDONE, COMPENSATED_IS_NET_ZERO, Scenario.of(1, TRANSACTION)),
				arguments(Defect.STEP_BEGUN_BEFORE_RECORDED_ONES, COMPLETED_IS_ONCE,
						Scenario.of(2, PLAIN).with(OTHER_BODY)),
				arguments(Defect.STEP_BEGUN_BEFORE_RECORDED_ONES, COMPENSATED_IS_NET_ZERO,
						Scenario.of(2, COMPENSATE).with(OTHER_BODY)),
				arguments(Defect.NO_RECEIPTS, COMPLETED_IS_ONCE, cancel),
				arguments(Defect.NO_RECEIPTS, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.OUTCOME_FORGOTTEN, COMPENSATED_IS_NET_ZERO, cancel.with(AGE)),
				arguments(Defect.UNREPLAYED_REFUSAL_TAKEN_AS_DEFINITE, COMPENSATED_IS_NET_ZERO,
						compensate.with(UNSTORED_REFUSALS)));
	}

	private static Stream<Arguments> defectsOfAge() {
		Scenario cancel = Scenario.of(2, CANCEL).with(AGE);
		return Stream.of(arguments(Defect.ACTION_AGE_IGNORED, COMPLETED_IS_ONCE, Scenario.of(1, PLAIN).with(AGE)),
				arguments(Defect.ACTION_AGE_IGNORED, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.REFUSED_ACTION_AGE_IGNORED, COMPENSATED_IS_NET_ZERO,
						cancel.with(UNSTORED_REFUSALS, RESENDS)),
				arguments(Defect.CANCEL_REPEATED_BEYOND_ACTION_AGE, COMPENSATED_IS_NET_ZERO, cancel),
				arguments(Defect.UNDO_AGE_IGNORED, AT_MOST_ONCE, Scenario.of(1, COMPENSATE).with(AGE)));
	}

	private static Stream<Arguments> defectsOfOperators() {
		Scenario compensate = Scenario.of(3, COMPENSATE).with(OPERATOR, AGE);
		return Stream.of(arguments(Defect.SKIPPED_BEFORE_AGE, COMPENSATED_IS_NET_ZERO, compensate),
				arguments(Defect.SKIPPED_STEP_GOES_FORWARD, COMPLETED_IS_ONCE, compensate),
				arguments(Defect.OPERATOR_KEEPS_EPOCH, HALTED_WITH_CAUSE, compensate));
	}

	private static Stream<Arguments> defectsOfWaits() {
		Scenario wait = Scenario.of(1, SIGNAL).with(SIGNALS);
		Scenario patient = Scenario.of(1, SIGNAL, TRANSACTION).with(SIGNALS, CATCHES_REFUSALS);
		return Stream.of(arguments(Defect.SIGNAL_ROW_NOT_LOCKED, NO_WAIT_IN_VAIN, wait),
				arguments(Defect.SIGNAL_ROW_NOT_LOCKED, ACCEPTED_OR_EXPIRED, wait),
				arguments(Defect.RELEASED_WITHOUT_LOOKING, NO_WAIT_IN_VAIN, wait),
				arguments(Defect.EXPIRED_WITHOUT_LOOKING, ACCEPTED_OR_EXPIRED, wait),
				arguments(Defect.EXPIRY_NOT_RECORDED, ONE_OUTCOME, patient),
				arguments(Defect.SIGNAL_ACCEPTED_AFTER_EXPIRY, ACCEPTED_OR_EXPIRED, patient),
				arguments(Defect.UNCOMMITTED_SIGNAL_READ, ONE_SIGNAL, wait));
	}

	private static Stream<Arguments> defectsOfSenders() {
		Scenario wait = Scenario.of(1, SIGNAL).with(SIGNALS);
		return Stream.of(arguments(Defect.SIGNAL_NOT_STORED, NO_WAIT_IN_VAIN, wait),
				arguments(Defect.SIGNAL_NOT_STORED, ACCEPTED_OR_EXPIRED, wait),
				arguments(Defect.SIGNAL_DOES_NOT_WAKE, NO_WAIT_IN_VAIN, wait),
				arguments(Defect.LAST_SIGNAL_COUNTS, ONE_SIGNAL, wait),
				arguments(Defect.SIGNAL_OF_EARLIER_SAGA_COUNTS, ONE_SIGNAL, wait.with(SIGNAL_OF_EARLIER_SAGA)));
	}

	private static Stream<Arguments> defectsOfCancellation() {
		Scenario wait = Scenario.of(1, SIGNAL).with(SIGNALS, CANCELS);
		Scenario work = Scenario.of(1, TRANSACTION).with(CANCELS);
		return Stream.of(arguments(Defect.CANCEL_KEEPS_DEADLINE, CANCELLED_IS_NOT_COMPLETED, work),
				arguments(Defect.CANCEL_COMPARES_CLOCKS, CANCELLED_IS_NOT_COMPLETED, work),
				arguments(Defect.CANCEL_DOES_NOT_WAKE, NO_WAIT_IN_VAIN, wait),
				arguments(Defect.CANCEL_UNDOES_COMPLETED, ONE_ANSWER, work));
	}

	@Test
	void needsADefectForEachRuleAndInvariant() {
		List<Object[]> defects = defects().map(Arguments::get).toList();
		assertThat(defects).extracting((row) -> row[0]).contains((Object[]) Defect.values());
		assertThat(defects).extracting((row) -> row[1]).contains((Object[]) Invariant.values());
	}

	@ParameterizedTest(name = "{1}: {0}")
	@MethodSource("limits")
	void doesNotCover(Scenario scenario, Invariant broken) {
		Result result = Search.run(scenario, EnumSet.of(broken));
		assertThat(result.broken()).as("%,d states", result.states()).isEqualTo(broken);
	}

	static Stream<Arguments> limits() {
		Scenario cancel = Scenario.of(2, CANCEL);
		Scenario compensate = Scenario.of(2, COMPENSATE).with(UNSTORED_REFUSALS, RESENDS);
		return Stream.of(arguments(compensate, COMPENSATED_IS_NET_ZERO),
				arguments(cancel.with(UNSTORED_REFUSALS, RESENDS, CATCHES_REFUSALS), COMPLETED_IS_ONCE),
				arguments(cancel.with(AGE, DELAYS_BEYOND_RETENTION), COMPENSATED_IS_NET_ZERO),
				arguments(Scenario.of(0, SIGNAL).with(SIGNALS, SIGNAL_BETWEEN_SAGAS), ONE_SIGNAL));
	}

}
