package dev.idempotent.sample.crash;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

import dev.idempotent.sample.crash.Audit.Census;
import dev.idempotent.sample.crash.Audit.Violation;
import dev.idempotent.sample.crash.KeyHistory.Heal;
import dev.idempotent.sample.crash.site.Journal;

/**
 * The results of a run.
 */
final class Report {

	private static final int SHOWN_OF_A_KIND = 5;

	private final Tally faults = new Tally();

	private final Tally outcomes = new Tally();

	private final Tally deaths = new Tally();

	private final Tally violations = new Tally();

	private final List<String> histories = new ArrayList<>();

	private final CrashSettings settings;

	private final Journal journal;

	private Census census = new Census(0, 0, 0, 0);

	private EventReport events = EventReport.NONE;

	private long longestHeal;

	private long longestHealAlone;

	private long heals;

	private long longestSettling;

	Report(CrashSettings settings, Journal journal) {
		this.settings = settings;
		this.journal = journal;
	}

	/**
	 * Counts the faults.
	 */
	Tally faults() {
		return this.faults;
	}

	/**
	 * Counts the outcomes of requests.
	 */
	Tally outcomes() {
		return this.outcomes;
	}

	/**
	 * Counts the broken promises.
	 */
	Tally violations() {
		return this.violations;
	}

	/**
	 * Adds the results of one round.
	 */
	void add(List<Violation> found, List<Heal> healed) {
		found.forEach((violation) -> {
			this.violations.count(violation.kind());
			if (this.violations.of(violation.kind()) <= SHOWN_OF_A_KIND) {
				this.histories.add(violation.kind() + ": " + violation.detail() + System.lineSeparator()
						+ violation.key().describe(this.journal));
			}
		});
		this.heals += healed.size();
		this.longestHeal = longest(this.longestHeal, healed);
		this.longestHealAlone = longest(this.longestHealAlone, healed.stream().filter(Heal::alone).toList());
		this.journal.deaths().forEach((death) -> this.deaths.count(death.cause()));
	}

	private static long longest(long before, List<Heal> heals) {
		return Math.max(before, heals.stream().map(Heal::millis).max(Comparator.naturalOrder()).orElse(0L));
	}

	/**
	 * Adds how long after everything was up a key had its answer.
	 */
	void settled(long millis) {
		this.longestSettling = Math.max(this.longestSettling, millis);
	}

	/**
	 * Adds what is there at the end.
	 */
	void counted(Census census, EventReport events) {
		this.census = census;
		this.events = events;
	}

	EventReport events() {
		return this.events;
	}

	/**
	 * Whether every promise was kept.
	 */
	boolean isClean() {
		return this.violations.total() == 0 && this.census.isExact(this.settings.hasStoreInFront())
				&& this.events.isClean();
	}

	/**
	 * The histories of keys with a broken promise, or nothing.
	 */
	String histories() {
		return this.histories.stream().collect(Collectors.joining(System.lineSeparator()));
	}

	/**
	 * One line for a round.
	 */
	String progress() {
		return "requests " + this.outcomes.total() + " · deaths " + this.deaths.total() + " · violations "
				+ this.violations;
	}

	@Override
	public String toString() {
		return """
				Crash run under %s, seed %d
				  keys       %d · with one order each %d · orders %d · unfinished records %d
				  requests   %d: %s
				  faults     %s
				  deaths     %d: %s
				  healed     %d keys in flight at a crash; longest %d ms when nothing else went wrong, %d ms in all; \
				last response %d ms after everything was up
				  violations %s
				%s%s%s""".formatted(this.settings.guarantee(), this.settings.seed(), this.census.keys(),
				this.census.keysWithOneOrder(), this.census.orders(), this.census.unfinishedRecords(),
				this.outcomes.total(), this.outcomes, this.faults, this.deaths.total(), this.deaths, this.heals,
				this.longestHealAlone, this.longestHeal, this.longestSettling, this.violations, this.events,
				histories(), this.events.details());
	}

}
