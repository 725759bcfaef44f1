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

}
