package dev.idempotent.saga.model;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.saga.model.Search.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static dev.idempotent.saga.model.StepKind.CANCEL;
import static dev.idempotent.saga.model.StepKind.COMPENSATE;
import static dev.idempotent.saga.model.StepKind.PLAIN;
import static dev.idempotent.saga.model.StepKind.TRANSACTION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Searches all states of the saga protocol for one that breaks a promise. More faults:
 * {@code -Dsaga.model.faults=1} adds one to each scenario, which takes minutes.
 */
class SagaModelTests {

	private static final int MORE_FAULTS = Integer.getInteger("saga.model.faults", 0);

	private static final Set<Invariant> ALL = EnumSet.allOf(Invariant.class);

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void keepsItsPromises(Scenario scenario) {
		long t = System.nanoTime();
		Result result = Search.run(scenario, ALL);
		System.out.println(scenario + " " + result.states() + " states " + (System.nanoTime() - t) / 1000000 + " ms");
		assertThat(result.broken()).as("%s: %s after %,d states%n%s", scenario, result.broken(), result.states(), result.trace()).isNull();
		assertThat(result.statuses()).contains(Status.COMPLETED, Status.COMPENSATED);
		assertThat(result.states()).isGreaterThan(1_000);
	}

	static Stream<Scenario> keepsItsPromises() {
		Option[] single = EnumSet.complementOf(EnumSet.of(Option.DELAYS_BEYOND_RETENTION, Option.CATCHES_REFUSALS)).toArray(Option[]::new);
		return Stream.of(
				of(4, TRANSACTION, CANCEL, COMPENSATE).with(Option.DEADLINE),
				of(4, CANCEL, COMPENSATE, TRANSACTION).with(Option.STORED_REFUSALS),
				of(4, COMPENSATE, TRANSACTION, CANCEL).with(Option.STORED_REFUSALS, Option.OPERATOR),
				of(5, TRANSACTION, TRANSACTION, TRANSACTION).with(Option.DEADLINE, Option.SECOND_CALLER, Option.STORED_REFUSALS),
				of(3, PLAIN, CANCEL, PLAIN).with(Option.DEADLINE),
				of(3, PLAIN, CANCEL).with(Option.DEADLINE, Option.AGE, Option.OPERATOR),
				of(3, CANCEL, COMPENSATE).with(Option.UNSTORED_REFUSALS, Option.AGE, Option.DEADLINE),
				of(3, COMPENSATE, CANCEL).with(Option.STORED_REFUSALS, Option.AGE, Option.DEADLINE),
				of(4, COMPENSATE, CANCEL).with(Option.STORED_REFUSALS, Option.CATCHES_REFUSALS, Option.RESENDS),
				of(4, CANCEL, TRANSACTION).with(Option.UNSTORED_REFUSALS, Option.RESENDS, Option.AGE),
				of(4, COMPENSATE, TRANSACTION).with(Option.UNSTORED_REFUSALS, Option.CATCHES_REFUSALS, Option.AGE),
				of(4, CANCEL, TRANSACTION).with(Option.REFUSED_UNDO, Option.OPERATOR, Option.AGE),
				of(4, COMPENSATE).with(EnumSet.complementOf(EnumSet.of(Option.DELAYS_BEYOND_RETENTION, Option.CATCHES_REFUSALS, Option.RESENDS)).toArray(Option[]::new)),
				of(4, CANCEL).with(single));
	}

	private static Scenario of(int faults, StepKind... steps) {
		return Scenario.of(faults + MORE_FAULTS, steps);
	}

	@ParameterizedTest(name = "{0} {1}")
	@MethodSource
	void needsEachOfItsRules(Defect defect, Invariant broken, Scenario scenario) {
		Result result = Search.run(scenario.without(defect), EnumSet.of(broken));
		assertThat(result.broken()).as("%,d states", result.states()).isEqualTo(broken);
		System.out.println(defect + "\n"+ result.trace());
	}

	static Stream<Arguments> needsEachOfItsRules() {
		return Stream.of(
				arguments(Defect.NO_FENCE, Invariant.ONE_ANSWER, Scenario.of(2, TRANSACTION, CANCEL)),
				arguments(Defect.NO_FENCE, Invariant.COMPLETED_IS_ONCE, Scenario.of(2, TRANSACTION, CANCEL)),
				arguments(Defect.NO_EPOCH_CHECK, Invariant.REVERSE_ORDER, Scenario.of(2, TRANSACTION, CANCEL)),
				arguments(Defect.NO_EPOCH_CHECK, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(2, TRANSACTION, CANCEL)),
				arguments(Defect.NO_TOMBSTONE, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL)),
				arguments(Defect.UNKNOWN_TAKEN_FOR_NOT_DONE, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, COMPENSATE)),
				arguments(Defect.UNKNOWN_TAKEN_FOR_NOT_DONE, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL)),
				arguments(Defect.COMPENSATED_BEFORE_UNDO, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL)),
				arguments(Defect.NO_KEYS, Invariant.AT_MOST_ONCE, Scenario.of(1, CANCEL)),
				arguments(Defect.NO_KEYS, Invariant.COMPLETED_IS_ONCE, Scenario.of(1, PLAIN)),
				arguments(Defect.ACTION_AGE_IGNORED, Invariant.COMPLETED_IS_ONCE, Scenario.of(1, PLAIN).with(Option.AGE)),
				arguments(Defect.ACTION_AGE_IGNORED, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL).with(Option.AGE)),
				arguments(Defect.UNDO_AGE_IGNORED, Invariant.AT_MOST_ONCE, Scenario.of(1, COMPENSATE).with(Option.AGE)),
				arguments(Defect.CANCEL_REPEATED_BEYOND_ACTION_AGE, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(2, CANCEL).with(Option.AGE)),
				arguments(Defect.SCOPE_CHANGES, Invariant.COMPLETED_IS_ONCE, Scenario.of(1, PLAIN)),
				arguments(Defect.SCOPE_CHANGES, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL)),
				arguments(Defect.LEASE_ACTION, Invariant.COMPLETED_IS_ONCE, Scenario.of(1, PLAIN)),
				arguments(Defect.LEASE_ACTION, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL)),
				arguments(Defect.UNREPLAYED_REFUSAL_TAKEN_AS_DEFINITE, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, COMPENSATE).with(Option.UNSTORED_REFUSALS)),
				arguments(Defect.JOURNAL_READ_BEFORE_EPOCH, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, TRANSACTION)),
				arguments(Defect.STALE_OWNER_READS_JOURNAL, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, COMPENSATE).with(Option.UNSTORED_REFUSALS)),
				arguments(Defect.UNDO_REGISTERED_AFTER_ACTION, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL)),
				arguments(Defect.UNDO_ROW_NOT_CHECKED, Invariant.AT_MOST_ONCE, Scenario.of(1, TRANSACTION)),
				arguments(Defect.OUTCOME_FORGOTTEN, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, CANCEL).with(Option.AGE)),
				arguments(Defect.OWNER_PER_PROCESS, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, COMPENSATE).with(Option.SECOND_CALLER, Option.UNSTORED_REFUSALS)),
				arguments(Defect.KEYS_REUSED_AFTER_SWEEP, Invariant.COMPLETED_IS_ONCE, Scenario.of(1, COMPENSATE)),
				arguments(Defect.EPOCHS_REUSED_AFTER_SWEEP, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(3, TRANSACTION)),
				arguments(Defect.NO_TAKE_OVER, Invariant.PROGRESS, Scenario.of(1, CANCEL)),
				arguments(Defect.SKIPPED_BEFORE_AGE, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(3, COMPENSATE).with(Option.OPERATOR)),
				arguments(Defect.OPERATOR_KEEPS_EPOCH, Invariant.HALTED_WITH_CAUSE, Scenario.of(3, COMPENSATE).with(Option.OPERATOR, Option.AGE)),
				arguments(Defect.BODY_LEAVES_IN_DOUBT, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(2, TRANSACTION)),
				arguments(Defect.UNREACHED_STEPS_NOT_UNDONE, Invariant.COMPENSATED_IS_NET_ZERO, Scenario.of(1, TRANSACTION)));
	}

	@Test
	void hasADefectForEachRuleAndEachInvariant() {
		List<Object[]> rows = needsEachOfItsRules().map(Arguments::get).toList();
		assertThat(rows.stream().map((row) -> row[0]).collect(Collectors.toSet())).isEqualTo(EnumSet.allOf(Defect.class));
		assertThat(rows.stream().map((row) -> row[1]).collect(Collectors.toSet())).isEqualTo(ALL);
	}

	@ParameterizedTest
	@MethodSource
	void cannotPreventMessagesBeyondItsLimits(Scenario scenario, Invariant broken) {
		Result result = Search.run(scenario, EnumSet.of(broken));
		assertThat(result.broken()).as("%,d states", result.states()).isEqualTo(broken);
	}

	static Stream<Arguments> cannotPreventMessagesBeyondItsLimits() {
		return Stream.of(
			arguments(Scenario.of(2, COMPENSATE).with(Option.UNSTORED_REFUSALS, Option.RESENDS), Invariant.COMPENSATED_IS_NET_ZERO),
			arguments(Scenario.of(2, CANCEL).with(Option.UNSTORED_REFUSALS, Option.RESENDS, Option.CATCHES_REFUSALS), Invariant.COMPLETED_IS_ONCE),
			arguments(Scenario.of(3, CANCEL).with(Option.AGE, Option.DELAYS_BEYOND_RETENTION), Invariant.COMPENSATED_IS_NET_ZERO));
	}

}
