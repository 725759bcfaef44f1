package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;

/**
 * The journal of one saga as its owner knows it: what is stored, and the outcomes that
 * are written with the next write.
 */
final class Journal {

	private final Map<String, JournalEntry> entries = new LinkedHashMap<>();

	private final List<String> names = new ArrayList<>();

	private final Set<String> unwritten = new LinkedHashSet<>();

	private final Map<String, Long> begun = new HashMap<>();

	private final Map<String, Long> compensating = new HashMap<>();

	private int steps;

	Journal(int steps, List<StoredStep> stored) {
		this.steps = steps;
		long now = System.nanoTime();
		for (StoredStep step : stored) {
			String name = step.entry().name();
			put(step.entry());
			this.begun.put(name, now - step.age().toNanos());
			if (step.entry().state() == StepState.COMPENSATING) {
				this.compensating.put(name, now - step.compensatingFor().toNanos());
			}
		}
	}

	int steps() {
		return this.steps;
	}

	/**
	 * Returns the step that was begun in a place, counted from 1, or {@code null}.
	 */
	@Nullable JournalEntry at(int place) {
		return (place <= this.names.size()) ? this.entries.get(this.names.get(place - 1)) : null;
	}

	/**
	 * Returns a new entry in the next place.
	 */
	JournalEntry begin(String name, StepKind kind) {
		return new JournalEntry(name, this.entries.size() + 1, kind, StepState.ACTING, null, null);
	}

	/**
	 * Keeps a change until the next write.
	 */
	void keep(JournalEntry entry) {
		put(entry);
		this.unwritten.add(entry.name());
	}

	/**
	 * Returns what the next write contains.
	 * @param more changes that are not kept yet, or that replace kept ones
	 */
	List<JournalEntry> unwritten(JournalEntry... more) {
		Map<String, JournalEntry> written = new LinkedHashMap<>();
		this.unwritten.forEach((name) -> written.put(name, Objects.requireNonNull(this.entries.get(name))));
		for (JournalEntry entry : more) {
			written.put(entry.name(), entry);
		}
		return List.copyOf(written.values());
	}

	/**
	 * Records a write that has been committed.
	 */
	void written(int newSteps, List<JournalEntry> written) {
		this.steps = newSteps;
		long now = System.nanoTime();
		for (JournalEntry entry : written) {
			put(entry);
			this.begun.putIfAbsent(entry.name(), now);
			if (entry.state() == StepState.COMPENSATING) {
				this.compensating.putIfAbsent(entry.name(), now);
			}
		}
		this.unwritten.clear();
	}

	/**
	 * Returns the entries that must still be undone, the last one first.
	 */
	List<JournalEntry> toUndo() {
		List<JournalEntry> all = new ArrayList<>(this.entries.values());
		all.removeIf((entry) -> !isToUndo(entry));
		all.sort(Comparator.comparingInt(JournalEntry::number).reversed());
		return all;
	}

	private static boolean isToUndo(JournalEntry entry) {
		if (!entry.kind().isUndoable() || entry.state() == StepState.COMPENSATED
				|| entry.state() == StepState.SKIPPED) {
			return false;
		}
		return entry.kind() == StepKind.CANCELLED_CALL || !entry.isRefused();
	}

	/**
	 * Returns the time since a step began; zero if that is not written.
	 */
	Duration age(String name) {
		return since(this.begun.get(name));
	}

	/**
	 * Returns the time since the undo of a step began; zero if that is not written.
	 */
	Duration compensatingFor(String name) {
		return since(this.compensating.get(name));
	}

	private void put(JournalEntry entry) {
		if (this.entries.put(entry.name(), entry) == null) {
			this.names.add(entry.name());
		}
	}

	private static Duration since(@Nullable Long nanos) {
		return (nanos != null) ? Duration.ofNanos(System.nanoTime() - nanos) : Duration.ZERO;
	}

}
